"""Settings of pools whose `command` runs on other machines, and of the platforms that run it there."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.fleet.kubernetes_settings import KubernetesPoolSettings

Platform = Literal["here", "ray", "ssh", "slurm"]
Amount = Annotated[float, Meta(gt=0)]


class PlatformSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all pools of a platform have in common."""

    ray_address: Annotated[
        Annotated[str, Meta(pattern=r"^ray://[^\s/]+:[0-9]+$")] | None,
        Meta(
            description='The Ray cluster that pools with `runs_on = "ray"` are on, as `ray://HEAD:10001`. It takes '
            "heterodyne[ray], in the cluster's own version of Ray and of Python."
        ),
    ] = None
    ray_namespace: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_\-]{1,63}$",
            description="Ray namespace of the actors. Gateways with the same one share the replicas and their count.",
        ),
    ] = "heterodyne"
    ssh_command: Annotated[
        tuple[str, ...],
        Meta(
            min_length=2,
            description="Program that runs a shell's command on `{host}`, one word after the other; the command is put "
            "behind it as one word more, and a script is its input.",
        ),
    ] = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "{host}")
    ssh_folder: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9._][A-Za-z0-9._/\-]{0,200}$",
            description="Folder on each host, under the home of who is logged in, with what runs there and its log.",
        ),
    ] = ".heterodyne"
    slurm_over: Annotated[
        tuple[str, ...],
        Meta(
            description="Program that runs a shell's command where Slurm's are, such as `ssh` to a login node; the "
            "command is put behind it as one word more. Empty, they are on this machine."
        ),
    ] = ()
    hosts_namespace: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_\-]{1,63}$",
            description="Whose the replicas on hosts and the jobs of Slurm are. Each gateway that starts some has its "
            "own.",
        ),
    ] = "heterodyne"


class PlacedPoolSettings(KubernetesPoolSettings, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the `command` of a pool runs, and what it has to find there."""

    runs_on: Annotated[
        Platform,
        Meta(
            description="Where `command` runs: on this machine, as actors of the Ray cluster at `fleet.ray_address`, "
            "on `ssh_hosts`, or as jobs of Slurm."
        ),
    ] = "here"
    ray_accelerator_type: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Accelerator that the node of a replica must have, in Ray's words, such as `H100`."),
    ] = None
    ray_gpus: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="`num_gpus` of a replica; absent, `tp` where there is a `ray_accelerator_type`, else none."),
    ] = None
    ray_cpus: Annotated[float, Meta(ge=0, description="`num_cpus` of a replica.")] = 1.0
    ray_resources: Annotated[
        dict[str, Amount], Meta(description="Custom resources that a replica takes, such as `{ TPU = 4 }`.")
    ] = {}
    ray_labels: Annotated[
        dict[str, str],
        Meta(description="Labels that the node of a replica must have, each as Ray's `label_selector` takes it."),
    ] = {}
    ssh_hosts: Annotated[
        dict[Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@\-]{0,252}$")], Annotated[int, Meta(ge=1, le=64)]],
        Meta(description="Hosts, as `ssh` knows them, and how many replicas each has a place for."),
    ] = {}
    ssh_addresses: Annotated[
        dict[str, str],
        Meta(description="What gateways call a host by, where that is another name than the one `ssh` knows."),
    ] = {}
    ssh_port_first: Annotated[
        int, Meta(ge=1024, le=65000, description="Port of a host's first place; the others follow. Each is `{slot}`.")
    ] = 30000
    slurm_options: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^-")], ...],
        Meta(description="Options of `sbatch`, such as `--partition=gpu` and `--gres=gpu:h100:1`."),
    ] = ()
    slurm_setup: Annotated[
        tuple[str, ...],
        Meta(description="Lines of shell before the command in a job, such as `module load cuda`."),
    ] = ()
    slurm_address: Annotated[
        str, Meta(min_length=1, description="What gateways call a job's node by; `{node}` is its name in Slurm.")
    ] = "{node}"
    slurm_port_first: Annotated[
        int,
        Meta(
            ge=1024,
            le=64000,
            description="A job listens on one of the thousand ports from here on: which, its number says.",
        ),
    ] = 31000
