package lunar.osd.target.security;

import java.util.Set;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.RequiredAccess;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.target.attribute.AttributeReader;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.SecurityMethod;

/**
 * Checks a command against the fields of its capability. A field of zero in time, tag and boot epoch allows any.
 *
 * <p>An object descriptor of a partition, with an object type of user objects or collections and an object identifier
 * of zero, allows all objects of this type in the partition: an extension, so that a whole partition can be handed to
 * somebody with few credentials. A command that uses a second collection needs such a descriptor: any other names one
 * object.
 */
final class CapabilityRules {
    private static final long ALL_BYTES = -1;

    private final OsdCdb command;
    private final Capability capability;
    private final ObjectDescriptor descriptor;
    private final OsdVersion version;

    CapabilityRules(OsdCdb command) {
        this.command = command;
        capability = command.common().capability();
        descriptor = capability.object();
        version = command.common().version();
    }

    /** Checks what has to be known to check integrity at all; returns the method. */
    SecurityMethod method(SecurityMethod lowest) throws Refusal {
        if (capability.format() != (version == OsdVersion.OSD_2 ? 2 : 1)) {
            throw Refusal.field(CapabilityField.FORMAT, "it has no capability of its version");
        }
        if (capability.integrityAlgorithm() != IntegrityCheck.HMAC_SHA1) {
            throw Refusal.field(CapabilityField.KEYS,
                    "the integrity check value algorithm is not supported");
        }
        SecurityMethod method = SecurityMethod.of(capability.securityMethod())
                .orElse(SecurityMethod.NOSEC);
        requireMethod(method, lowest);
        return method;
    }

    private static void requireMethod(SecurityMethod method, SecurityMethod lowest)
            throws Refusal {
        if (method.compareTo(lowest) < 0) {
            throw Refusal.field(CapabilityField.METHOD, "the security method of the capability, "
                    + method + ", is lower than " + lowest);
        }
    }

    /** Checks everything else. */
    void check(SecuredRequest request, ObjectPolicy policy, int bootEpoch, long nowMs)
            throws Refusal {
        if (policy.method().isPresent()) {
            requireMethod(SecurityMethod.of(capability.securityMethod())
                    .orElse(SecurityMethod.NOSEC),
                    SecurityMethod.of(policy.method().getAsInt()).orElse(SecurityMethod.NOSEC));
        }
        checkTime(bootEpoch, nowMs);
        RequiredAccess required = required(request, policy);
        checkObject(required.type());
        if (policy.object().isPresent() && !creates()) {
            checkCreated(policy.object().get());
        }
        checkTag(policy.tag());
        if (policy.secondTag().isPresent()) {
            checkSecond(policy.secondTag().getAsLong());
        }
        if (!capability.permissions().containsAll(required.permissions())) {
            throw Refusal.field(CapabilityField.PERMISSIONS,
                    "the capability does not permit " + required.permissions());
        }
        checkRange(request);
        if (policy.permitted().isPresent()) {
            checkAttributes(request, policy.permitted().get());
        }
    }

    private void checkTime(int bootEpoch, long nowMs) throws Refusal {
        if (capability.expirationMs() != 0 && capability.expirationMs() <= nowMs) {
            throw Refusal.field(CapabilityField.EXPIRATION, "the capability has expired");
        }
        if (descriptor.bootEpoch() != 0 && descriptor.bootEpoch() != bootEpoch) {
            throw Refusal.field(CapabilityField.BOOT_EPOCH,
                    "the capability is of another start of the device");
        }
    }

    private boolean creates() {
        return switch (command.action()) {
            case CREATE, CREATE_AND_WRITE, CREATE_COLLECTION, CREATE_USER_TRACKING_COLLECTION,
                    CREATE_PARTITION ->
                true;
            default -> false;
        };
    }

    private RequiredAccess required(SecuredRequest request, ObjectPolicy policy) {
        RequiredAccess needed = RequiredAccess.of(command).and(request.gets(), request.sets());
        ObjectType type = RequiredAccess.isForAnyType(command)
                ? policy.object().map(StoredObject::type).orElse(needed.type())
                : needed.type();
        return new RequiredAccess(type, needed.permissions());
    }

    private void checkObject(ObjectType type) throws Refusal {
        if (capability.objectType() != type.code()) {
            throw Refusal.field(CapabilityField.OBJECT_TYPE,
                    "the capability is for another type of object");
        }
        boolean ofPartition = descriptor.type() == ObjectDescriptor.TYPE_PARTITION;
        boolean matches = switch (type) {
            case ROOT, PARTITION -> ofPartition;
            case USER_OBJECT ->
                ofPartition || descriptor.type() == ObjectDescriptor.TYPE_USER_OBJECT;
            case COLLECTION -> ofPartition || descriptor.type() == (version == OsdVersion.OSD_2
                    ? ObjectDescriptor.TYPE_COLLECTION
                    : ObjectDescriptor.TYPE_USER_OBJECT);
        };
        if (!matches) {
            throw Refusal.field(CapabilityField.DESCRIPTOR_TYPE,
                    "the object descriptor is of another type");
        }
        ObjectId allowed = descriptor.allowed();
        if (allowed.partition() != command.object().partition()) {
            throw Refusal.field(CapabilityField.partition(version),
                    "the capability is for another partition");
        }
        long object = ofPartition ? 0 : command.object().object();
        if (allowed.object() != object) {
            throw Refusal.field(CapabilityField.object(version),
                    "the capability is for another object");
        }
    }

    private void checkSecond(long tag) throws Refusal {
        if (descriptor.type() != ObjectDescriptor.TYPE_PARTITION) {
            throw Refusal.field(CapabilityField.object(version),
                    "the capability is for one of two collections");
        }
        checkTag(tag);
    }

    private void checkTag(long tag) throws Refusal {
        if (descriptor.policyAccessTag() != 0 && descriptor.policyAccessTag() != tag) {
            throw Refusal.field(CapabilityField.tag(version), "the policy access tag is another");
        }
    }

    private void checkCreated(StoredObject object) throws Refusal {
        if (capability.objectCreatedMs() != 0 && object.type() != ObjectType.ROOT
                && capability.objectCreatedMs() != object.time(Timestamp.CREATED)) {
            throw Refusal.field(CapabilityField.CREATED,
                    "the capability is for an object that was created at another time");
        }
    }

    /** A command that changes data outside of any range, or tells about them, needs a capability for all bytes. */
    private void checkRange(SecuredRequest request) throws Refusal {
        long length = descriptor.rangeLength();
        if (length == 0 || length == ALL_BYTES) {
            return;
        }
        boolean unlimited = switch (command.action()) {
            case APPEND, PUNCH, READ_MAP, REMOVE -> true;
            default -> request.sets().contains(UserObjectAttribute.LOGICAL_LENGTH.id());
        };
        boolean outside = request.extents().stream()
                .anyMatch(extent -> !isWithin(extent.offset(), extent.length(), length));
        if (unlimited || outside) {
            throw Refusal.field(CapabilityField.RANGE_LENGTH,
                    "the capability is for another range of bytes");
        }
    }

    private boolean isWithin(long from, long count, long length) {
        long skipped = from - descriptor.rangeStart();
        return Long.compareUnsigned(from, descriptor.rangeStart()) >= 0
                && Long.compareUnsigned(count, length) <= 0
                && Long.compareUnsigned(skipped, length - count) <= 0;
    }

    private static void checkAttributes(SecuredRequest request, Set<AttributeId> permitted)
            throws Refusal {
        boolean sets = permitted.containsAll(request.sets());
        boolean gets = request.gets().stream()
                .allMatch(id -> AttributeReader.isOfCurrentCommand(id.page())
                        || permitted.contains(id));
        if (!sets || !gets || !permitted.containsAll(request.compared())) {
            throw Refusal.field(CapabilityField.ATTRIBUTES_ACCESS,
                    "the capability is for other attributes");
        }
    }
}
