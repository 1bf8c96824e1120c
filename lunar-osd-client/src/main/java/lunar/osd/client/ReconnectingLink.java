package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.DeviceGoneException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.initiator.scsi.ScsiUnit;
import lunar.initiator.scsi.UnitIdentity;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * Carries commands over a session of its own; after the end of the session, the next command logs in again. Commands in
 * flight at the end of a session fail, and are not sent again: whether they were executed is not known. Thread-safe.
 */
final class ReconnectingLink implements CommandLink {
    /** Logs in to the target. */
    @FunctionalInterface
    interface Login {
        Session login() throws IOException;
    }

    private static final System.Logger LOG = System.getLogger("lunar.osd.client");

    private final Login login;
    private final Lun lun;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable UnitIdentity identity;
    private volatile Session session;
    /** Number of logins that have failed, and the last failure; both change under the lock. */
    private final AtomicLong failures = new AtomicLong();
    private @Nullable StorageException failure;
    private volatile boolean closed;

    ReconnectingLink(Login login, Lun lun) throws IOException {
        this.login = login;
        this.lun = lun;
        session = login.login();
    }

    /** Reads the identity of the device, without which there is no further login. */
    void identify() throws StorageException {
        try {
            identity = ScsiUnit.of(session, lun).identity();
        } catch (NotSupportedException e) {
            LOG.log(System.Logger.Level.DEBUG, name() + " does not tell its identity", e);
        }
    }

    /** Returns the session of the last login. */
    Session session() { return session; }

    private SessionLink current() throws StorageException {
        Session known = session;
        UnitIdentity wanted = identity;
        return new SessionLink(known.isOpen() || wanted == null || closed
                ? known
                : renewed(known, wanted), lun);
    }

    /** Logs in again, unless another thread has done so, or has failed, while this one was waiting. */
    private Session renewed(Session ended, UnitIdentity wanted) throws StorageException {
        long failuresBefore = failures.get();
        lock.lock();
        try {
            if (closed || session != ended) {
                return session;
            }
            StorageException last = failure;
            if (failures.get() != failuresBefore && last != null) {
                throw new DeviceGoneException(String.valueOf(last.getMessage()), last);
            }
            try {
                session = requireSame(login.login(), wanted);
                LOG.log(System.Logger.Level.INFO, "logged in again to " + name());
                return session;
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

    /** Refuses another device at the LUN: objects of the same identifiers would be taken for the known ones. */
    private Session requireSame(Session fresh, UnitIdentity wanted) throws IOException {
        boolean same = false;
        try {
            if (!ScsiUnit.of(fresh, lun).identity().isSameUnit(wanted)) {
                throw new IOException("the LUN is another device now");
            }
            same = true;
            return fresh;
        } finally {
            if (!same) {
                fresh.close();
            }
        }
    }

    @Override
    public String name() { return session.targetName() + "/" + lun; }

    @Override
    public Object connection() throws StorageException { return current().session(); }

    @Override
    public long patienceMs() { return session.options().timeouts().commandMs(); }

    @Override
    public ScsiResult execute(byte[] cdb, MemorySegment in, MemorySegment out)
            throws StorageException {
        return current().execute(cdb, in, out);
    }

    @Override
    public CompletableFuture<ScsiResult> start(byte[] cdb, MemorySegment in, MemorySegment out) {
        try {
            return current().start(cdb, in, out);
        } catch (StorageException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Permits no further login; does not log out. */
    void close() { closed = true; }
}
