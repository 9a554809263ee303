"""Pure: how other systems choose a replica, one file each, so that ours can be measured against them."""
