"""Whether two ways to run one model say the same, as nearly as its precision allows. Pure."""
