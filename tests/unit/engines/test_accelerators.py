"""Pages of accelerator exporters, as they write them, in one form."""

import pytest

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.accelerators.catalogue import EXPORTERS, read_devices
from heterodyne.engines.accelerators.device import DeviceReading

MIB, GIB = 2**20, 2**30

DCGM = b"""\
# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 1980
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 54
DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 49
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 612.5
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 118.2
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 0
# TYPE DCGM_FI_DEV_FB_FREE gauge
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 7168
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 81000
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 73728
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"} 559
"""

AMD_LABELS = 'card_series="AMD Instinct MI300X OAM",card_vendor="AMD",gpu_partition_id="0",hostname="n2"'
AMD = "".join(
    f'# TYPE {name} gauge\n{name}{{gpu_id="0",{AMD_LABELS}}} {first}\n{name}{{gpu_id="1",{AMD_LABELS}}} {second}\n'
    for name, first, second in (
        ("gpu_gfx_activity", 88, 0),
        ("gpu_junction_temperature", 71, 44),
        ("gpu_package_power", 690, 140),
        ("gpu_total_vram", 196592, 196592),
        ("gpu_used_vram", 180224, 283),
    )
).encode()

TPU_LABELS = 'make="cloud-tpu",model="tpu-v5-lite-podslice",tpu_topology="2x2"'
TPU = "".join(
    f'# TYPE {name} gauge\n{name}{{accelerator_id="4804027404612077242-{chip}",{labels}{TPU_LABELS}}} {value}\n'
    for name, labels, value, chip in (
        ("duty_cycle", 'container="jetstream",namespace="default",pod="p",', 61, 0),
        ("memory_total", 'container="jetstream",namespace="default",pod="p",', 16 * GIB, 0),
        ("memory_used", 'container="jetstream",namespace="default",pod="p",', 12 * GIB, 0),
        ("duty_cycle_node", "", 62, 0),
        ("memory_total_node", "", 16 * GIB, 0),
        ("memory_used_node", "", 12 * GIB, 0),
    )
).encode()


def test_dcgm_counts_memory_in_mebibytes_and_work_in_percent() -> None:
    exporter, (first, second) = read_devices(DCGM)
    assert exporter == "dcgm"
    assert first == DeviceReading(
        device="0",
        utilisation=0.97,
        memory_used_bytes=73728.0 * MIB,
        memory_total_bytes=(73728.0 + 7168) * MIB,
        power_w=612.5,
        temperature_c=54.0,
    )
    assert (second.device, second.utilisation, second.power_w) == ("1", 0.0, 118.2)


def test_dcgm_profiling_says_more_than_whether_a_device_was_busy() -> None:
    more = DCGM + b'DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-a"} 0.412\nDCGM_FI_DEV_FB_RESERVED{gpu="0"} 512\n'
    _, (first, second) = read_devices(more)
    assert first.utilisation == 0.412
    assert first.memory_total_bytes == (73728.0 + 7168 + 512) * MIB
    assert second.utilisation == 0.0, "the other device has no such line"


def test_slices_of_a_device_are_devices() -> None:
    page = b"".join(
        b'DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",GPU_I_PROFILE="3g.40gb",GPU_I_ID="%d"} 0.%d\n' % (one, one)
        for one in (1, 2)
    )
    _, readings = read_devices(page)
    assert [(one.device, one.utilisation) for one in readings] == [("0.1", 0.1), ("0.2", 0.2)]


def test_a_device_that_containers_share_is_counted_once() -> None:
    page = b"".join(b'DCGM_FI_DEV_GPU_UTIL{gpu="0",pod="%d"} 40\n' % pod for pod in range(3))
    _, readings = read_devices(page)
    assert [one.utilisation for one in readings] == [0.4]


def test_amd_counts_memory_in_mebibytes_and_work_in_percent() -> None:
    exporter, (first, second) = read_devices(AMD)
    assert exporter == "amd"
    assert first == DeviceReading(
        device="0",
        utilisation=0.88,
        memory_used_bytes=180224.0 * MIB,
        memory_total_bytes=196592.0 * MIB,
        power_w=690.0,
        temperature_c=71.0,
    )
    assert second.device == "1"


def test_amd_devices_of_the_generation_before_say_it_by_other_names() -> None:
    page = b'amd_gpu_gfx_activity{gpu_id="3"} 5\namd_gpu_edge_temperature{gpu_id="3"} 40\n'
    page += b'amd_gpu_average_package_power{gpu_id="3"} 210\n'
    assert read_devices(page) == (
        "amd",
        [DeviceReading(device="3", utilisation=0.05, power_w=210.0, temperature_c=40.0)],
    )


def test_partitions_of_an_amd_device_are_told_apart() -> None:
    page = b"".join(b'gpu_gfx_activity{gpu_id="1",gpu_partition_id="%d"} 50\n' % one for one in range(3))
    assert [one.device for one in read_devices(page)[1]] == ["1", "1.1", "1.2"]


def test_a_tpu_node_says_bytes_and_percent_and_nothing_of_power() -> None:
    assert read_devices(TPU) == (
        "tpu",
        [DeviceReading(device="0", utilisation=0.62, memory_used_bytes=12.0 * GIB, memory_total_bytes=16.0 * GIB)],
    )


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b'DCGM_FI_DEV_FB_USED{gpu="0"} 9223372036854775794', "memory_used_bytes"),
        (b'DCGM_FI_DEV_POWER_USAGE{gpu="0"} 140737488355328', "power_w"),
        (b'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 2147483632', "temperature_c"),
        (b'gpu_gfx_activity{gpu_id="0"} 65535', "utilisation"),
        (b'gpu_used_vram{gpu_id="0"} -1', "memory_used_bytes"),
        (b'duty_cycle{accelerator_id="1-0"} +Inf', "utilisation"),
    ],
)
def test_a_number_that_no_device_can_have_is_not_known(line: bytes, field: str) -> None:
    _, (reading,) = read_devices(line + b"\n")
    assert getattr(reading, field) is None


def test_a_little_more_than_all_the_time_is_all_of_it() -> None:
    assert read_devices(b'duty_cycle{accelerator_id="1-0"} 100.4\n')[1][0].utilisation == 1.0


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<html>404</html>",
        b'{"status": "ok"}',
        b"vllm:num_requests_running 1\n",
        b"memory_used 7\n",
        b"DCGM_FI_DEV_GPU_UTIL{gpu=",
    ],
)
def test_a_page_that_is_no_exporters_is_refused(page: bytes) -> None:
    with pytest.raises(EngineGarbage):
        read_devices(page)


def test_no_two_exporters_read_the_same_metric() -> None:
    names = [name for exporter in EXPORTERS for name in exporter.names]
    assert len(set(names)) == len(names)
