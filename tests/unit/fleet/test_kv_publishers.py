"""Where replicas publish, from what their pool says."""

from heterodyne.config.settings import Settings
from heterodyne.domain.kv_event import KvPublisher
from heterodyne.fleet.kv_publishers import kv_publishers
from heterodyne.fleet.settings import PoolSettings
from heterodyne.supervisor.configured_replicas import remote_replicas


def pool(*urls: str, **fields: object) -> PoolSettings:
    return PoolSettings(model="m", engine="vllm", urls=urls, **fields)  # type: ignore[arg-type]


def test_a_pool_that_says_nothing_has_no_publishers() -> None:
    assert kv_publishers(pool("http://a:1"), 0) == ()


def test_one_endpoint_for_all_has_the_host_of_each_url() -> None:
    said = pool("http://a:1", "https://[2001:db8::7]:443", kv_events=("tcp://{host}:5557",))
    assert kv_publishers(said, 0) == (KvPublisher(endpoint="tcp://a:5557"),)
    assert kv_publishers(said, 1) == (KvPublisher(endpoint="tcp://[2001:db8::7]:5557"),)


def test_ranks_publish_and_replay_one_port_above_the_last() -> None:
    said = pool(
        "http://a:1", kv_events=("tcp://{host}:5557",), kv_events_replay=("tcp://{host}:6000",), kv_events_ranks=2
    )
    assert kv_publishers(said, 0) == (
        KvPublisher(endpoint="tcp://a:5557", replay="tcp://a:6000"),
        KvPublisher(endpoint="tcp://a:5558", replay="tcp://a:6001"),
    )


def test_replicas_come_with_the_publishers_of_their_place() -> None:
    said = pool("http://a:1", "http://a:2", kv_events=("tcp://a:7001", "tcp://a:7002"))
    replicas = remote_replicas(Settings(pools={"p": said}))
    assert [one.kv_publishers[0].endpoint for one in replicas] == ["tcp://a:7001", "tcp://a:7002"]
