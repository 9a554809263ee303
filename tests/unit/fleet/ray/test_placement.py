"""What a replica asks of a Ray node, and what is said where none has it."""

from heterodyne.fleet.ray.messages import RayNode
from heterodyne.fleet.ray.placement import actor_options, why_pending
from heterodyne.fleet.settings import PoolSettings

L4 = RayNode(
    alive=True,
    node_id="a",
    resources={"CPU": 8.0, "GPU": 1.0, "accelerator_type:L4": 1.0},
    labels={"team": "search"},
)
LOST_H100 = RayNode(alive=False, resources={"GPU": 8.0, "accelerator_type:H100": 1.0})


def pool(**said: object) -> PoolSettings:
    return PoolSettings(model="m", command=("serve", "{port}"), runs_on="ray", **said)  # type: ignore[arg-type]


def test_an_accelerator_takes_as_many_gpus_as_the_replica_is_split_over() -> None:
    options = actor_options(pool(ray_accelerator_type="H100", tp=4))
    assert options == {"num_cpus": 1.0, "num_gpus": 4.0, "accelerator_type": "H100"}
    assert actor_options(pool(ray_accelerator_type="H100", ray_gpus=0.5))["num_gpus"] == 0.5


def test_without_an_accelerator_no_gpu_is_taken() -> None:
    assert actor_options(pool())["num_gpus"] == 0.0


def test_resources_and_labels_are_passed_on() -> None:
    options = actor_options(pool(ray_resources={"TPU": 4.0}, ray_labels={"team": "!chat"}))
    assert options["resources"] == {"TPU": 4.0}
    assert options["label_selector"] == {"team": "!chat"}


def test_an_accelerator_that_no_node_has_is_named_with_those_that_there_are() -> None:
    said = why_pending(pool(ray_accelerator_type="H100"), (L4, LOST_H100))
    assert said == "no node has an accelerator H100; there are L4"


def test_a_label_that_no_node_has_is_named_with_its_values() -> None:
    assert why_pending(pool(ray_labels={"team": "chat"}), (L4,)) == (
        'no node has the label team="chat"; there it is search'
    )
    assert why_pending(pool(ray_labels={"zone": "a"}), (L4,)).endswith("none has that label")


def test_a_label_that_is_an_expression_is_left_to_ray() -> None:
    said = why_pending(pool(ray_labels={"team": "in(chat,search)"}), (L4,))
    assert said.startswith("every node that could take it is taken")


def test_more_than_any_node_has_is_said_with_the_most() -> None:
    said = why_pending(pool(ray_accelerator_type="L4", tp=2), (L4,))
    assert said == "it takes 2 GPU, and no node has more than 1"


def test_resources_that_are_on_different_nodes_are_not_added_up() -> None:
    nodes = (RayNode(alive=True, resources={"CPU": 1.0}), RayNode(alive=True, resources={"GPU": 1.0}))
    assert why_pending(pool(ray_gpus=1.0), nodes) == "no node has all of 1 CPU, 1 GPU"


def test_a_cluster_without_nodes_says_so() -> None:
    assert why_pending(pool(), (LOST_H100,)) == "the cluster has no node"
