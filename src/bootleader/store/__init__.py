"""One experiment, many processes: an event log in a database, and exact replicas of its state."""

from bootleader.store._decision_audit import Audit
from bootleader.store._errors import StoreError
from bootleader.store._log_check import Check
from bootleader.store._many_rewards import BulkReceipt
from bootleader.store.experiment import Experiment
from bootleader.store.store import Store

__all__ = ["Audit", "BulkReceipt", "Check", "Experiment", "Store", "StoreError"]
