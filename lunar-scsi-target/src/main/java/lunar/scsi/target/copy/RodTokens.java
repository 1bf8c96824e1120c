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
 * The ROD tokens of a server (SPC-5 section 5.18.6). A token represents data at the time of its creation: the first
 * write to one of its blocks revokes it (point in time copy, change vulnerable). Any initiator that presents a token
 * may read its data, so tokens cannot be guessed. Thread-safe.
 */
public final class RodTokens {
    /** Maximum number of tokens, in total and per initiator. */
    static final int MAX_TOKENS = 4096;
    static final int MAX_TOKENS_OF_INITIATOR = 512;
    static final int DEFAULT_INACTIVITY_SECONDS = 60;
    static final int MAX_INACTIVITY_SECONDS = 600;
    /** Maximum lifetime of a token, even while it is used. */
    static final int MAX_LIFETIME_SECONDS = 24 * 3600;

    private static final long SECOND = 1_000_000_000L;
    /** How long a token is remembered after its end. */
    private static final long REMEMBERED = 600 * SECOND;

    private static final Sense NO_ROOM = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INSUFFICIENT_RESOURCES_TO_CREATE_ROD_TOKEN);

    /** Creates the bytes of a token from an unguessable secret. */
    @FunctionalInterface
    interface Form {
        RodToken token(long identifier, Bytes secret);
    }

    /** Data that a token represents. Guarded by the lock of its tokens. */
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

        /** Whether it overlaps a range of a store. */
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

    /** Read by every write: usually no tokens exist. */
    private volatile boolean any;

    RodTokens(LongSupplier nanoTime) { this.nanoTime = nanoTime; }

    /** Creates a token. */
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

    /** Drops tokens that ended long ago, and if space is short all ended ones. */
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

    /** Begins use of a token; the caller gives it back. */
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
        // Constant-time, so that timing does not reveal the number of matching bytes.
        if (!MessageDigest.isEqual(rod.token.toArray(), token.toArray())) {
            throw refusal(AdditionalSense.TOKEN_CORRUPT);
        }
        requireAlive(rod);
        rod.users++;
        return rod;
    }

    /**
     * Fails if the data has changed since the token was created; otherwise, all data read before this call is valid.
     */
    synchronized void requireAlive(Rod rod) throws CopyException {
        if (!rod.isAlive(nanoTime.getAsLong())) {
            throw refusal(rod.gone);
        }
    }

    synchronized void giveBack(Rod rod) {
        rod.users--;
        rod.used = nanoTime.getAsLong();
    }

    /** Deletes a token (DEL_TKN). */
    synchronized void delete(Rod rod) {
        rod.gone = AdditionalSense.TOKEN_DELETED;
    }

    /** Revokes the tokens for blocks about to be written. Called before each write. */
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

    /** Whether any token exists that a write could revoke. */
    public boolean any() { return any; }

    private static CopyException refusal(AdditionalSense why) {
        return new CopyException(Sense.of(SenseKey.ILLEGAL_REQUEST, why));
    }
}
