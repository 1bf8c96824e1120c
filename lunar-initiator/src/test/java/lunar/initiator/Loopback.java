package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.scsi.Lun;
import lunar.testkit.ScriptedTarget;

/**
 * An initiator and a scripted target, with timeouts that are short enough to be tested and long enough not to disturb
 * other tests.
 */
final class Loopback implements AutoCloseable {
    static final String TARGET = "iqn.2026-11.org.lunar:scripted";

    /** Longer than any test may take. */
    static final int NEVER_MS = 600_000;

    private static final Timeouts PATIENT = new Timeouts(NEVER_MS, NEVER_MS, NEVER_MS, NEVER_MS,
            NEVER_MS, NEVER_MS);

    final ScriptedTarget target;
    final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:test");
    private Timeouts timeouts = PATIENT;
    private int queueDepth = 8;

    Loopback(ScriptedTarget.Script script) { target = ScriptedTarget.start(script); }

    /** A target whose LUN 0 is a disk, but for what the hook does itself. */
    static Loopback disk(ScriptedDisk.Hook hook) {
        var disk = new ScriptedDisk();
        return new Loopback(peer -> disk.serve(peer, hook));
    }

    Loopback timeouts(Timeouts value) {
        timeouts = value;
        return this;
    }

    Loopback queueDepth(int value) {
        queueDepth = value;
        return this;
    }

    static Timeouts patient() { return PATIENT; }

    SessionOptions options() {
        return SessionOptions.of("127.0.0.1", target.port(), TARGET).withTimeouts(timeouts)
                .withQueueDepth(queueDepth);
    }

    Session login() throws IOException { return initiator.login(options()); }

    LunDevice open() throws IOException {
        Session session = login();
        return session.open(Lun.ZERO, session::close);
    }

    static MemorySegment blocks(int count) {
        return MemorySegment.ofArray(new byte[count * ScriptedDisk.BLOCK_SIZE]);
    }

    @Override
    public void close() throws IOException {
        initiator.close();
        target.close();
        if (!target.failures().isEmpty()) {
            throw new AssertionError("the script failed", target.failures().getFirst());
        }
    }
}
