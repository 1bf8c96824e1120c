package lunar.osd.client;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import lunar.osd.client.security.CredentialRequest;
import lunar.osd.client.security.CredentialSource;
import lunar.osd.security.RequiredAccess;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.security.RequestNonce;
import lunar.scsi.Bytes;

/** State that the seals of a device's commands share. Thread-safe. */
final class CommandSecurity {
    /** By how much nonces are newer after one was refused as too old: past what a restarted device refuses. */
    private static final long ADVANCE_MS = 15_000;
    private static final long MAX_ADVANCE_MS = 45_000;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final CredentialSource source;
    private final SecurityTokens tokens;
    private final DeviceLookup device;
    private final AtomicLong advanceMs = new AtomicLong();

    CommandSecurity(CredentialSource source, SecurityTokens tokens, DeviceLookup device) {
        this.source = source;
        this.tokens = tokens;
        this.device = device;
    }

    CredentialSource source() { return source; }

    SecurityTokens tokens() { return tokens; }

    DeviceLookup device() { return device; }

    /** Returns the seal of a command. */
    FrameSeal seal(OsdCommand command) throws IOException {
        OsdCdb bare = command.cdb().apply(CommonFields.of(FrameSeal.VERSION));
        RequestOptions options = command.options();
        return new FrameSeal(this, new CredentialRequest(bare, RequiredAccess.of(bare).and(
                options.gets(), options.sets().stream().map(Attribute::id).toList()), device));
    }

    /** Returns a nonce that was not used before. */
    RequestNonce nonce() {
        byte[] random = new byte[RequestNonce.RANDOM_LENGTH];
        RANDOM.nextBytes(random);
        return new RequestNonce(System.currentTimeMillis() + advanceMs.get(), Bytes.of(random));
    }

    /** Makes further nonces newer; false if they are new enough for any device whose clock is right. */
    boolean advanceClock() {
        long before = advanceMs.get();
        if (before >= MAX_ADVANCE_MS) {
            return false;
        }
        boolean _ = advanceMs.compareAndSet(before, before + ADVANCE_MS); // else another thread has
        return true;
    }

    /** Asks the device again next time. */
    void forget() {
        tokens.forget();
        device.forget();
    }
}
