package lunar.osd.client.security;

import java.time.Instant;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;

/**
 * Access that a credential allows. Immutable.
 *
 * @param type type of the object
 * @param object the object; a partition with the type of user objects or collections for all of them in it
 * @param permissions what may be done with it
 * @param expirationMs end of validity in milliseconds since 1970; 0 for none
 * @param workingKey number of the working key that signs it, 0 to 15: setting this key invalidates it
 * @param tag policy access tag that the object must have; 0 for any
 */
public record Grant(ObjectType type, ObjectId object, Set<Permission> permissions,
        long expirationMs, int workingKey, long tag) {
    /** Makes the set unmodifiable. */
    public Grant {
        if (permissions.isEmpty()) {
            throw new IllegalArgumentException("no permission");
        }
        permissions = Collections.unmodifiableSet(EnumSet.copyOf(permissions));
    }

    /** Returns a grant for one user object, without end. */
    public static Grant of(ObjectId object, Permission... permissions) {
        return new Grant(ObjectType.USER_OBJECT, object, Set.of(permissions), 0, 0, 0);
    }

    /** Returns a grant for all user objects of a partition, without end. */
    public static Grant ofAllObjects(long partition, Permission... permissions) {
        return of(ObjectId.ofPartition(partition), permissions);
    }

    /** Returns a grant for a partition itself, without end: its attributes, and the list of its objects. */
    public static Grant ofPartition(long partition, Permission... permissions) {
        return new Grant(ObjectType.PARTITION, ObjectId.ofPartition(partition),
                Set.of(permissions), 0, 0, 0);
    }

    /** Returns this grant with an end. */
    public Grant until(Instant end) {
        return new Grant(type, object, permissions, end.toEpochMilli(), workingKey, tag);
    }

    /** Returns this grant, signed by another working key. */
    public Grant signedBy(int key) {
        return new Grant(type, object, permissions, expirationMs, key, tag);
    }

    /** Returns the capability of OSD-2. */
    Capability capability(SecurityMethod method, Bytes discriminator) {
        int descriptor = switch (type) {
            case ROOT, PARTITION -> ObjectDescriptor.TYPE_PARTITION;
            case COLLECTION -> object.object() == 0
                    ? ObjectDescriptor.TYPE_PARTITION
                    : ObjectDescriptor.TYPE_COLLECTION;
            case USER_OBJECT -> object.object() == 0
                    ? ObjectDescriptor.TYPE_PARTITION
                    : ObjectDescriptor.TYPE_USER_OBJECT;
        };
        return new Capability(2, workingKey, IntegrityCheck.HMAC_SHA1, method.code(),
                expirationMs, Bytes.of(new byte[Capability.AUDIT_LENGTH]), discriminator, 0,
                type.code(), permissions,
                new ObjectDescriptor(descriptor, 0, tag, 0, object, 0, 0));
    }
}
