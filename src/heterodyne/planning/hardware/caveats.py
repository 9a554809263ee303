"""What an operator should know of a layout that its numbers do not say."""

from heterodyne.physics.memory import Demand, Layout


def caveats(layout: Layout, demand: Demand) -> tuple[str, ...]:
    """Sentences, none when nothing is unusual."""
    chip, model = layout.accelerator, layout.model
    said = []
    if layout.precision not in chip.precisions:
        known = ", ".join(chip.precisions)
        said.append(f"{chip.name} is not known to run weights in {layout.precision}; it is for {known}")
    if layout.engine not in chip.engines:
        said.append(f"{layout.engine} is not known to run on {chip.name}; these are: {', '.join(chip.engines)}")
    if layout.tp > chip.fast_domain_chips:
        said.append(
            f"the fast link of {chip.name} joins {chip.fast_domain_chips} chips; "
            f"tp {layout.tp} would run over a slower one"
        )
    if model.latent is not None and layout.tp > 1:
        said.append(f"{model.name} has latent attention: every chip holds all keys and values, tp does not divide them")
    elif layout.tp > model.kv_heads:
        said.append(f"{model.name} has {model.kv_heads} KV heads; beyond tp {model.kv_heads} chips hold copies")
    if demand.context_tokens > model.context_tokens:
        said.append(f"{model.name} is made for {model.context_tokens} tokens; {demand.context_tokens} go beyond")
    return tuple(said)
