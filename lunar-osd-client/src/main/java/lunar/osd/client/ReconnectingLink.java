package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.DeviceGoneException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.initiator.ReportedReset;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.initiator.scsi.CommandRetries;
import lunar.initiator.scsi.ScsiUnit;
import lunar.initiator.scsi.UnitIdentity;
import lunar.scsi.Lun;
import lunar.scsi.primary.TestUnitReady;
import org.jspecify.annotations.Nullable;

/**
 * Carries commands over a session of its own; after the end of the session, the next command logs in again. Commands in
 * flight at the end of a session fail, and are not sent again: whether they were executed is not known. Thread-safe.
 *
 * <p>A login counts as a loss of changes that were not stable, unless the device reports that it has lost nothing but
 * the nexus (29h/07h): a target that was without power answers like one that was merely unreachable.
 */
final class ReconnectingLink implements CommandLink {
    /** Logs in to the target. */
    @FunctionalInterface
    interface Login {
        Session login() throws IOException;
    }

    /** A session, and the losses before it; each session begins with none. */
    private record Reached(Session session, Lun lun, long lossesBefore) {
        SessionLink link() { return new SessionLink(session, lun); }

        long losses() { return lossesBefore + session.cacheLosses(lun); }
    }

    private static final System.Logger LOG = System.getLogger("lunar.osd.client");

    private final Login login;
    private final Lun lun;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable UnitIdentity identity;
    private volatile Reached reached;
    /** Number of logins that have failed, and the last failure; both change under the lock. */
    private final AtomicLong failures = new AtomicLong();
    private @Nullable StorageException failure;
    private volatile boolean closed;

    ReconnectingLink(Login login, Lun lun) throws IOException {
        this.login = login;
        this.lun = lun;
        reached = new Reached(login.login(), lun, 0);
    }

    /** Reads the identity of the device, without which there is no further login. */
    void identify() throws StorageException {
        try {
            identity = ScsiUnit.of(session(), lun).identity();
        } catch (NotSupportedException e) {
            LOG.log(System.Logger.Level.DEBUG, name() + " does not tell its identity", e);
        }
    }

    /** Returns the session of the last login. */
    Session session() { return reached.session(); }

    private Reached current() throws StorageException {
        Reached known = reached;
        UnitIdentity wanted = identity;
        return known.session().isOpen() || wanted == null || closed
                ? known
                : renewed(known, wanted);
    }

    /** Logs in again, unless another thread has done so, or has failed, while this one was waiting. */
    private Reached renewed(Reached ended, UnitIdentity wanted) throws StorageException {
        long failuresBefore = failures.get();
        lock.lock();
        try {
            if (closed || !reached.equals(ended)) {
                return reached;
            }
            StorageException last = failure;
            if (failures.get() != failuresBefore && last != null) {
                throw new DeviceGoneException(String.valueOf(last.getMessage()), last);
            }
            try {
                reached = after(ended, requireSame(login.login(), wanted));
                return reached;
            } catch (IOException e) {
                var gone = new DeviceGoneException(name()
                        + ": session lost, and cannot log in again: " + e.getMessage(), e);
                failure = gone;
                failures.incrementAndGet();
                throw gone;
            }
        } finally {
            lock.unlock();
        }
    }

    private Reached after(Reached ended, Session fresh) {
        boolean kept = fresh.resetTold(lun) == ReportedReset.NEXUS_LOSS;
        LOG.log(System.Logger.Level.INFO, "logged in again to " + name() + (kept
                ? ""
                : "; changes that were not flushed before may be lost"));
        return new Reached(fresh, lun,
                ended.losses() + (kept ? 0 : 1) - fresh.cacheLosses(lun));
    }

    /** Refuses another device at the LUN: objects of the same identifiers would be taken for the known ones. */
    private Session requireSame(Session fresh, UnitIdentity wanted) throws IOException {
        boolean same = false;
        try {
            if (!ScsiUnit.of(fresh, lun).identity().isSameUnit(wanted)) {
                throw new IOException("the LUN is another device now");
            }
            hearAttentions(fresh);
            same = true;
            return fresh;
        } finally {
            if (!same) {
                fresh.close();
            }
        }
    }

    /** Lets the device report its unit attentions, of which only the session takes note. */
    private void hearAttentions(Session fresh) throws StorageException {
        byte[] cdb = new TestUnitReady().bytes();
        var _ = CommandRetries.send(
                () -> fresh.execute(lun, cdb, MemorySegment.NULL, MemorySegment.NULL), true,
                fresh.options().timeouts().commandMs(), () -> "TEST UNIT READY on " + name());
    }

    @Override
    public String name() { return session().targetName() + "/" + lun; }

    @Override
    public long patienceMs() { return session().options().timeouts().commandMs(); }

    @Override
    public long losses() throws StorageException { return current().losses(); }

    @Override
    public Object connection() throws StorageException { return current().session(); }

    @Override
    public ScsiResult execute(byte[] cdb, MemorySegment in, MemorySegment out)
            throws StorageException {
        return current().link().execute(cdb, in, out);
    }

    @Override
    public CompletableFuture<ScsiResult> start(byte[] cdb, MemorySegment in, MemorySegment out) {
        try {
            return current().link().start(cdb, in, out);
        } catch (StorageException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Permits no further login; does not log out. */
    void close() { closed = true; }
}
