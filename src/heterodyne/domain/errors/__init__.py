"""Every failure Heterodyne can name, as one tree.

HeterodyneError
├── CallerError                     the client must change something
│   ├── MalformedHttp               400 malformed_http
│   ├── MalformedJson               400 invalid_json
│   ├── InvalidField                400 invalid_value
│   ├── ContextExceeded             400 context_length_exceeded
│   ├── ContentBlocked              400 content_filter        a policy does not let it pass
│   ├── Unauthenticated             401 invalid_api_key
│   │   └── TokenRefused            401 invalid_token         of another issuer; the message says what is wrong of it
│   ├── NotAllowed                  403 not_allowed           outside the scopes of the key
│   │   └── KeyBlocked              403 key_blocked           for a time, by a policy against abuse
│   ├── UnknownModel                404 model_not_found
│   ├── UnknownObject               404 object_not_found
│   ├── UnknownPath                 404 unknown_path
│   ├── MethodNotAllowed            405 method_not_allowed
│   ├── RequestTooSlow              408 request_timeout
│   ├── BodyTooLarge                413 body_too_large
│   ├── UnsupportedMediaType        415 unsupported_media_type
│   ├── UnknownHost                 421 unknown_host
│   ├── LimitReached                429 rate_limit_exceeded   of a key, its project or its organisation
│   │   └── SlowedDown              429 slowed_down           for a time, by a policy against abuse
│   ├── BudgetSpent                 429 insufficient_quota    the same, in dollars
│   ├── HeadTooLarge                431 head_too_large
│   ├── NotCached                   504 not_cached            only a kept answer was wanted, and there is none
│   └── ClientGone                  499 client_gone           never rendered: nobody is listening
├── GatewayError                    we cannot take or finish the work
│   ├── Overloaded                  503 overloaded
│   ├── NoSpareCapacity             503 no_spare_capacity     batch work beside interactive work
│   ├── QueueFull                   503 queue_full            as many wait as may
│   ├── NotInTime                   503 not_in_time           no replica would keep the deadline or the promise
│   ├── Shed                        503 shed                  its tier gives way as the fleet fills
│   ├── StoreUnavailable            503 store_unavailable     a store that must answer does not, and limits fail closed
│   ├── GuardUnavailable            503 guard_unavailable     a guard that must be asked gives no verdict
│   ├── IssuerUnavailable           503 issuer_unavailable  an issuer's keys are not known, and tokens wait for them
│   ├── Draining                    503 draining
│   ├── DeadlineExceeded            504 deadline_exceeded
│   └── InternalError               500 internal_error
├── EngineError                     a replica failed
│   ├── EngineUnavailable           503 engine_unavailable
│   │   ├── EnginesFull             503 engines_full          they hold what they may; waiting helps
│   │   └── EngineOverloaded        503 engine_overloaded     a provider says that it has too much to do
│   ├── EngineStalled               504 engine_stalled
│   ├── EngineBroke                 502 engine_broke          closed or reset in the middle of an answer
│   ├── EngineGarbage               502 engine_garbage        bytes that are not the promised protocol
│   ├── AdapterUnavailable          503 adapter_unavailable   a LoRA adapter that a replica could not be given
│   └── EngineRefused               the engine's own status   its error, in our shape
└── OperatorError                   whoever runs Heterodyne must act; a line and an exit code in the CLI
    ├── SettingsInvalid             settings_invalid
    ├── PortInUse                   port_in_use
    ├── WeightsUnavailable          weights_unavailable
    ├── WeightsCorrupt              weights_corrupt
    ├── UnknownName                 unknown_name
    ├── InvalidSpec                 invalid_spec
    ├── PlanImpossible              plan_impossible
    ├── StoreInvalid                store_invalid
    ├── AuditBroken                 audit_broken
    ├── DriverUnavailable           driver_unavailable    what runs replicas does not answer
    ├── DriverRefused               driver_refused        it says no: rights, a quota, a bound
    └── ScalerConflict              scaler_conflict       another scaler changes the same pool

A class answers four questions beside its name: code, HTTP status, worth a retry, whose turn it is to act.
"""

from heterodyne.domain.errors.base import CallerError, EngineError, GatewayError, HeterodyneError, OperatorError, Turn
from heterodyne.domain.errors.caller import (
    BodyTooLarge,
    BudgetSpent,
    ClientGone,
    ContentBlocked,
    ContextExceeded,
    HeadTooLarge,
    InvalidField,
    KeyBlocked,
    LimitReached,
    MalformedHttp,
    MalformedJson,
    MethodNotAllowed,
    NotAllowed,
    NotCached,
    RequestTooSlow,
    SlowedDown,
    TokenRefused,
    Unauthenticated,
    UnknownHost,
    UnknownModel,
    UnknownObject,
    UnknownPath,
    UnsupportedMediaType,
)
from heterodyne.domain.errors.engine import (
    AdapterUnavailable,
    EngineBroke,
    EngineGarbage,
    EngineOverloaded,
    EngineRefused,
    EnginesFull,
    EngineStalled,
    EngineUnavailable,
)
from heterodyne.domain.errors.gateway import (
    DeadlineExceeded,
    Draining,
    GuardUnavailable,
    InternalError,
    IssuerUnavailable,
    NoSpareCapacity,
    NotInTime,
    Overloaded,
    QueueFull,
    Shed,
    StoreUnavailable,
)
from heterodyne.domain.errors.operator import (
    AuditBroken,
    DriverRefused,
    DriverUnavailable,
    InvalidSpec,
    PlanImpossible,
    PortInUse,
    ScalerConflict,
    SettingsInvalid,
    StoreInvalid,
    UnknownName,
    WeightsCorrupt,
    WeightsUnavailable,
)

__all__ = [
    "AdapterUnavailable",
    "AuditBroken",
    "BodyTooLarge",
    "BudgetSpent",
    "CallerError",
    "ClientGone",
    "ContentBlocked",
    "ContextExceeded",
    "DeadlineExceeded",
    "Draining",
    "DriverRefused",
    "DriverUnavailable",
    "EngineBroke",
    "EngineError",
    "EngineGarbage",
    "EngineOverloaded",
    "EngineRefused",
    "EngineStalled",
    "EngineUnavailable",
    "EnginesFull",
    "GatewayError",
    "GuardUnavailable",
    "HeadTooLarge",
    "HeterodyneError",
    "InternalError",
    "InvalidField",
    "InvalidSpec",
    "IssuerUnavailable",
    "KeyBlocked",
    "LimitReached",
    "MalformedHttp",
    "MalformedJson",
    "MethodNotAllowed",
    "NoSpareCapacity",
    "NotAllowed",
    "NotCached",
    "NotInTime",
    "OperatorError",
    "Overloaded",
    "PlanImpossible",
    "PortInUse",
    "QueueFull",
    "RequestTooSlow",
    "ScalerConflict",
    "SettingsInvalid",
    "Shed",
    "SlowedDown",
    "StoreInvalid",
    "StoreUnavailable",
    "TokenRefused",
    "Turn",
    "Unauthenticated",
    "UnknownHost",
    "UnknownModel",
    "UnknownName",
    "UnknownObject",
    "UnknownPath",
    "UnsupportedMediaType",
    "WeightsCorrupt",
    "WeightsUnavailable",
]
