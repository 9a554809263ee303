"""What answers from the cache would have cost, in the sums of a day."""

from heterodyne.stores.sql.migration import Migration

_ADD = "ALTER TABLE usage_daily ADD COLUMN saved_usd_micro {integer} NOT NULL DEFAULT 0"

SAVINGS_10 = Migration(
    number=10,
    name="savings",
    sqlite=(_ADD.format(integer="INTEGER"),),
    postgres=(_ADD.format(integer="BIGINT"),),
)
