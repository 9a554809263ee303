"""Every step of the database's shape, in order."""

from heterodyne.stores.sql.migration import Migration
from heterodyne.stores.sql.schema.blocks_4 import BLOCKS_4
from heterodyne.stores.sql.schema.books_2 import BOOKS_2
from heterodyne.stores.sql.schema.documents_9 import DOCUMENTS_9
from heterodyne.stores.sql.schema.history_3 import HISTORY_3
from heterodyne.stores.sql.schema.loads_8 import LOADS_8
from heterodyne.stores.sql.schema.models_5 import MODELS_5
from heterodyne.stores.sql.schema.policies_11 import POLICIES_11
from heterodyne.stores.sql.schema.rollouts_7 import ROLLOUTS_7
from heterodyne.stores.sql.schema.savings_10 import SAVINGS_10
from heterodyne.stores.sql.schema.tenants_1 import TENANTS_1
from heterodyne.stores.sql.schema.verdicts_6 import VERDICTS_6

MIGRATIONS: tuple[Migration, ...] = (
    TENANTS_1,
    BOOKS_2,
    HISTORY_3,
    BLOCKS_4,
    MODELS_5,
    VERDICTS_6,
    ROLLOUTS_7,
    LOADS_8,
    DOCUMENTS_9,
    SAVINGS_10,
    POLICIES_11,
)
