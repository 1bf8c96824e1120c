package lunar.target.device;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/**
 * The copy operations of one nexus at one logical unit, by list identifier (SPC-5 section 5.18.4.2). One that has ended
 * is kept until its identifier is used again, or too many others came after it. Thread-safe.
 */
final class CopyOperations {
    /** Operations with an identifier, going on or ended; the first ones that have ended are forgotten beyond it. */
    static final int MAX_KEPT = 64;

    private static final Sense IN_USE = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.OPERATION_IN_PROGRESS);
    private static final Sense TOO_MANY = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INSUFFICIENT_RESOURCES);

    private final Map<Long, CopyOperation> operations = new LinkedHashMap<>();

    /** Begins an operation. */
    synchronized void begin(long identifier, CopyOperation operation) throws CopyException {
        CopyOperation before = operations.get(identifier);
        if (before != null && !before.hasEnded()) {
            throw new CopyException(IN_USE);
        }
        operations.remove(identifier);
        if (operations.size() >= MAX_KEPT) {
            var oldest = operations.entrySet().stream()
                    .filter(entry -> entry.getValue().hasEnded()).findFirst();
            if (oldest.isEmpty()) {
                throw new CopyException(TOO_MANY);
            }
            operations.remove(oldest.get().getKey());
        }
        operations.put(identifier, operation);
    }

    synchronized Optional<CopyOperation> find(long identifier) {
        return Optional.ofNullable(operations.get(identifier));
    }
}
