package lunar.scsi.target.copy;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import lunar.block.BlockDevice;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.copy.RodToken;

/**
 * The ROD tokens of a server (SPC-5 section 5.18.6). A token stands for the data as they were when it was made: the
 * first write to one of its blocks revokes it (point in time copy, change vulnerable). An initiator that shows a token
 * may read its data, so a token cannot be guessed. Thread-safe.
 */
public final class RodTokens {
    /** Tokens at once, and how many of them one initiator may have. */
    static final int MAX_TOKENS = 4096;
    static final int MAX_TOKENS_OF_INITIATOR = 512;
    static final int DEFAULT_INACTIVITY_SECONDS = 60;
    static final int MAX_INACTIVITY_SECONDS = 600;
    /** Longest life of a token, however busy it is. */
    static final int MAX_LIFETIME_SECONDS = 24 * 3600;

    private static final long SECOND = 1_000_000_000L;
    /** How long it is known that a token once was. */
    private static final long REMEMBERED = 600 * SECOND;

    private static final Sense NO_ROOM = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INSUFFICIENT_RESOURCES_TO_CREATE_ROD_TOKEN);

    /** Makes the bytes of a token around a secret that cannot be guessed. */
    @FunctionalInterface
    interface Form {
        RodToken token(long identifier, Bytes secret);
    }

    /** The data that a token stands for. Guarded by the lock of its tokens. */
    static final class Rod {
        private final Bytes token;
        private final CopySource.Blocks source;
        private final String initiator;
        private final long inactivity;
        private final long born;
        private long used;
        private int users;
        private AdditionalSense gone = AdditionalSense.NONE;

        private Rod(Bytes token, CopySource.Blocks source, String initiator, long inactivity,
                long now) {
            this.token = token;
            this.source = source;
            this.initiator = initiator;
            this.inactivity = inactivity;
            born = now;
            used = now;
        }

        /** The token, 512 bytes. */
        Bytes token() { return token; }

        CopySource.Blocks source() { return source; }

        private boolean isAlive(long now) {
            if (gone.equals(AdditionalSense.NONE) && (now - born > MAX_LIFETIME_SECONDS * SECOND
                    || (users == 0 && now - used > inactivity))) {
                gone = AdditionalSense.TOKEN_EXPIRED;
            }
            return gone.equals(AdditionalSense.NONE);
        }

        /** Whether a range of a store has blocks of it. */
        private boolean overlaps(BlockDevice store, long lba, long blockCount) {
            if (!source.store().equals(store)) {
                return false;
            }
            for (BlockRange range : source.ranges()) {
                if (lba < range.lba() + range.blockCount() && range.lba() < lba + blockCount) {
                    return true;
                }
            }
            return false;
        }
    }

    private final LongSupplier nanoTime;
    private final SecureRandom random = new SecureRandom();
    private final Map<Long, Rod> rods = new LinkedHashMap<>();

    /** Read by every write: mostly there are no tokens. */
    private volatile boolean any;

    RodTokens(LongSupplier nanoTime) { this.nanoTime = nanoTime; }

    /** Makes a token. */
    synchronized Rod create(String initiator, CopySource.Blocks source, long inactivitySeconds,
            Form form) throws CopyException {
        long now = nanoTime.getAsLong();
        forget(now);
        long mine = rods.values().stream().filter(rod -> rod.initiator.equals(initiator)).count();
        if (rods.size() >= MAX_TOKENS || mine >= MAX_TOKENS_OF_INITIATOR) {
            throw new CopyException(NO_ROOM);
        }
        byte[] secret = new byte[RodToken.SECRET_LENGTH];
        random.nextBytes(secret);
        long identifier = random.nextLong();
        while (rods.containsKey(identifier)) {
            identifier = random.nextLong();
        }
        var rod = new Rod(Bytes.of(form.token(identifier, Bytes.of(secret)).bytes()), source,
                initiator, inactivitySeconds * SECOND, now);
        rods.put(identifier, rod);
        any = true;
        return rod;
    }

    /** Drops tokens that are long gone, and where there is little room all that are gone. */
    private void forget(long now) {
        boolean full = rods.size() >= MAX_TOKENS / 2;
        for (Iterator<Rod> all = rods.values().iterator(); all.hasNext();) {
            Rod rod = all.next();
            if (!rod.isAlive(now) && rod.users == 0 && (full || now - rod.used > REMEMBERED)) {
                all.remove();
            }
        }
        any = !rods.isEmpty();
    }

    /** Begins to use a token; the caller gives it back. */
    synchronized Rod use(Bytes token) throws CopyException {
        if (!RodToken.hasValidLength(token)) {
            throw refusal(AdditionalSense.INVALID_TOKEN_LENGTH);
        }
        if (RodToken.type(token) != RodToken.CHANGE_VULNERABLE) {
            throw refusal(AdditionalSense.UNSUPPORTED_TOKEN_TYPE);
        }
        Rod rod = rods.get(RodToken.identifier(token));
        if (rod == null) {
            throw refusal(AdditionalSense.TOKEN_UNKNOWN);
        }
        // In a time that does not tell how many bytes were guessed right.
        if (!MessageDigest.isEqual(rod.token.toArray(), token.toArray())) {
            throw refusal(AdditionalSense.TOKEN_CORRUPT);
        }
        requireAlive(rod);
        rod.users++;
        return rod;
    }

    /** Fails where the data have changed since; so whatever was read before this call is what the token stands for. */
    synchronized void requireAlive(Rod rod) throws CopyException {
        if (!rod.isAlive(nanoTime.getAsLong())) {
            throw refusal(rod.gone);
        }
    }

    synchronized void giveBack(Rod rod) {
        rod.users--;
        rod.used = nanoTime.getAsLong();
    }

    /** DEL_TKN. */
    synchronized void delete(Rod rod) { rod.gone = AdditionalSense.TOKEN_DELETED; }

    /** Revokes the tokens that stand for blocks about to be written. Called before each write. */
    public void written(BlockDevice store, long lba, long blockCount) {
        if (any) {
            revoke(store, lba, blockCount);
        }
    }

    private synchronized void revoke(BlockDevice store, long lba, long blockCount) {
        long now = nanoTime.getAsLong();
        for (Rod rod : rods.values()) {
            if (rod.overlaps(store, lba, blockCount) && rod.isAlive(now)) {
                rod.gone = AdditionalSense.TOKEN_REVOKED;
            }
        }
    }

    /** Whether there is anything that a write could end. */
    public boolean any() { return any; }

    private static CopyException refusal(AdditionalSense why) {
        return new CopyException(Sense.of(SenseKey.ILLEGAL_REQUEST, why));
    }
}
