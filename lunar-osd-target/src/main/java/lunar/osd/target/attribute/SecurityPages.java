package lunar.osd.target.attribute;

import static lunar.osd.target.attribute.StandardValue.readOnly;
import static lunar.osd.target.attribute.StandardValue.stored;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;

/**
 * The policy/security pages. The method of the device is what its operator has configured; a partition may require a
 * higher one. Without security the methods are NOSEC alone, and there are no keys.
 */
final class SecurityPages {
    private static final int TAG_LENGTH = 4;

    private SecurityPages() {}

    static List<StandardValue> ofRoot() {
        return List.of(readOnly(RootAttribute.DEFAULT_SECURITY_METHOD, SecurityPages::method),
                limit(NonceLimit.OLDEST.ofRoot(), NonceLimit.OLDEST,
                        SecurityFacts::oldestNonceMs),
                limit(NonceLimit.NEWEST.ofRoot(), NonceLimit.NEWEST,
                        SecurityFacts::newestNonceMs),
                readOnly(RootAttribute.PARTITION_DEFAULT_SECURITY_METHOD, SecurityPages::method),
                readOnly(RootAttribute.SUPPORTED_SECURITY_METHODS,
                        scope -> Values.number(supported(scope), 2)),
                readOnly(RootAttribute.ADJUSTABLE_CLOCK,
                        ifSecured(scope -> Values.time(scope.facts().nowMs()))),
                readOnly(RootAttribute.BOOT_EPOCH, ifSecured(
                        scope -> Values.number(scope.facts().security().bootEpoch(), 2))),
                readOnly(RootAttribute.MASTER_KEY_ID,
                        scope -> scope.facts().security().masterKeyId()),
                readOnly(RootAttribute.ROOT_KEY_ID,
                        scope -> scope.facts().security().rootKeyId(scope.objects())),
                readOnly(RootAttribute.integrityAlgorithm(IntegrityCheck.HMAC_SHA1),
                        ifSecured(_ -> Values.number(IntegrityCheck.HMAC_SHA1, 1))));
    }

    private static boolean isSecured(AttributeScope scope) {
        return scope.facts().security().method() != SecurityMethod.NOSEC;
    }

    private static StandardValue.Getter ifSecured(StandardValue.Getter getter) {
        return scope -> isSecured(scope) ? getter.value(scope) : Bytes.EMPTY;
    }

    private static Bytes method(AttributeScope scope) {
        return Values.number(scope.facts().security().method().code(), 1);
    }

    /** Bit map of methods: that of the device and all that protect more; NOSEC, the lowest bit, alone. */
    private static int supported(AttributeScope scope) {
        int bits = 0;
        for (SecurityMethod method : SecurityMethod.values()) {
            boolean offered = isSecured(scope)
                    ? method.compareTo(scope.facts().security().method()) >= 0
                    : method == SecurityMethod.NOSEC;
            bits |= offered ? 1 << method.code() : 0;
        }
        return bits;
    }

    /** A time by which a request nonce may be older or newer than the clock. */
    private static StandardValue limit(StandardAttribute attribute, NonceLimit limit,
            ToLongFunction<SecurityFacts> initial) {
        return stored(attribute, limit.rule(),
                ifSecured(scope -> Values.time(limit.of(scope.objects(), ObjectId.ROOT,
                        initial.applyAsLong(scope.facts().security())))));
    }

    static List<StandardValue> ofPartition() {
        var all = new ArrayList<>(List.of(
                stored(PartitionAttribute.DEFAULT_SECURITY_METHOD, SetRule.exactly(1),
                        SecurityPages::method),
                limit(NonceLimit.OLDEST.ofPartition(), NonceLimit.OLDEST,
                        SecurityFacts::oldestNonceMs),
                limit(NonceLimit.NEWEST.ofPartition(), NonceLimit.NEWEST,
                        SecurityFacts::newestNonceMs),
                readOnly(PartitionAttribute.REQUEST_NONCE_LIST_DEPTH, ifSecured(
                        scope -> Values.number(scope.facts().security().nonceDepth(), 2))),
                stored(PartitionAttribute.FROZEN_WORKING_KEYS, SetRule.exactly(2),
                        ifSecured(_ -> Values.number(0, 2))),
                readOnly(PartitionAttribute.PARTITION_KEY_ID,
                        scope -> scope.facts().security().partitionKeyId(scope.objects(),
                                scope.id().partition())),
                tag(PartitionAttribute.POLICY_ACCESS_TAG),
                tag(PartitionAttribute.USER_OBJECT_POLICY_ACCESS_TAG)));
        for (int key = 0; key < PartitionAttribute.WORKING_KEYS; key++) {
            int version = key;
            all.add(readOnly(PartitionAttribute.workingKeyId(version),
                    scope -> scope.facts().security().workingKeyId(scope.objects(),
                            scope.id().partition(), version)));
        }
        return all;
    }

    static List<StandardValue> ofCollection() {
        return List.of(tag(CollectionAttribute.POLICY_ACCESS_TAG));
    }

    /** An object that has no tag of its own has the one that its partition gives user objects. */
    static List<StandardValue> ofUserObject() {
        return List.of(stored(UserObjectAttribute.POLICY_ACCESS_TAG, SetRule.exactly(TAG_LENGTH),
                scope -> {
                    Bytes given = scope.objects().attribute(
                            ObjectId.ofPartition(scope.id().partition()),
                            PartitionAttribute.USER_OBJECT_POLICY_ACCESS_TAG.id());
                    return given.length() == 0 ? Values.number(0, TAG_LENGTH) : given;
                }));
    }

    private static StandardValue tag(StandardAttribute attribute) {
        return stored(attribute, SetRule.exactly(TAG_LENGTH), _ -> Values.number(0, TAG_LENGTH));
    }
}
