package lunar.initiator.multipath;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.iscsi.pdu.Isid;
import org.jspecify.annotations.Nullable;

/**
 * A present or past session of a path, perhaps one of an earlier process, as an I_T nexus at the target, with its
 * writes of unknown outcome. After it has ended without a Logout it is <em>stale</em>: the target may still execute
 * those writes until it is known to have ended the session. Thread-safe.
 */
final class PathSession {
    /** Maximum number of ranges, more than a session has commands at the target; beyond it the whole unit counts. */
    private static final int MAX_RANGES = 8192;

    private record Range(long lba, long blockCount) {
        boolean overlaps(BlockRequest request) {
            return request.lba() < lba + blockCount && lba < request.lba() + request.blockCount();
        }
    }

    private final SessionOptions options;
    private final SessionRecord nexus;
    /** The session with its device; empty for that of an earlier process. */
    private final Optional<LunDevice> device;
    /** Run once, when no process has to end the session any longer. */
    private final Runnable whenOver;
    private final AtomicBoolean over = new AtomicBoolean();
    private final List<Range> unanswered = new ArrayList<>(0); // guarded by this
    private boolean everything; // guarded by this
    private boolean dead; // guarded by this
    /** Portals of other groups, as "scheme://host:port". Guarded by this. */
    private final Set<String> elsewhere = new HashSet<>(0);
    /**
     * The device with a path that logs in with the ISID, or that has found the session in the records; null once it is
     * closed. Guarded by this.
     */
    private @Nullable BarrierUser follower;
    private volatile String obstacle = "";
    /** The device of the path that had the session, and ends it by its next login; null once it is closed. */
    private volatile @Nullable BarrierUser owner;

    private PathSession(SessionOptions options, SessionRecord nexus, Optional<LunDevice> device,
            @Nullable BarrierUser owner, Runnable whenOver) {
        this.options = options;
        this.nexus = nexus;
        this.device = device;
        this.owner = owner;
        this.whenOver = whenOver;
        follower = owner;
        everything = device.isEmpty();
    }

    /**
     * Returns a session of this process, and records it.
     *
     * @param server the server of Lunar that has the session, where that is known
     * @throws DeviceGoneException if too many sessions are recorded
     */
    static PathSession of(String initiatorName, SessionOptions options, Isid isid, LunDevice device,
            Optional<UUID> server, BarrierUser owner, SessionJournal journal)
            throws DeviceGoneException {
        Session session = device.session();
        var nexus = new SessionRecord(initiatorName, isid, options.scheme(), session.portal(),
                session.loginResult().portalGroupTag(), server);
        journal.add(nexus);
        return new PathSession(options, nexus, Optional.of(device), owner,
                () -> journal.remove(nexus));
    }

    /**
     * Returns a session that an earlier process has left: any block may have a write of unknown outcome.
     *
     * @param options options of a session with the target, for its credentials
     */
    static PathSession ofEarlier(SessionRecord nexus, SessionOptions options,
            SessionJournal journal) {
        return new PathSession(options, nexus, Optional.empty(), null,
                () -> journal.removeEarlier(nexus));
    }

    String initiatorName() { return nexus.initiatorName(); }

    /** Returns the options of the session's login, with the portal where it was. */
    SessionOptions options() {
        return nexus.at(options);
    }

    Isid isid() { return nexus.isid(); }

    OptionalInt portalGroupTag() { return nexus.portalGroupTag(); }

    Session session() { return device().session(); }

    LunDevice device() { return device.orElseThrow(); }

    Optional<UUID> server() { return nexus.server(); }

    /** Whether both are of one nexus of earlier processes. */
    boolean isEarlierLike(PathSession other) {
        return isEarlier() && other.isEarlier() && nexus.equals(other.nexus);
    }

    boolean isOf(BarrierUser device) { return device.equals(owner); }

    void orphan() { owner = null; }

    /** Has a device follow the session of an earlier process. */
    synchronized void followedBy(BarrierUser device) {
        if (follower == null) {
            follower = device;
        }
    }

    /** Whether a login by the portals of another session's group reaches the nexus (RFC 7143 section 4.4.1). */
    boolean isInGroupOf(PathSession other) {
        return portalGroupTag().isPresent() && portalGroupTag().equals(other.portalGroupTag())
                && options.targetName().equals(other.options.targetName());
    }

    /** Whether a session would take the place of this one at the target (RFC 7143 section 6.3.5). */
    boolean isReinstatedBy(Session other, Isid by) {
        return isid().equals(by)
                && portalGroupTag().equals(other.loginResult().portalGroupTag())
                && (portalGroupTag().isPresent() || nexus.portal().equals(other.portal()))
                && options.targetName().equals(other.targetName());
    }

    /**
     * Records that a login with its ISID at this portal was in another group: it does not end this session, as long as
     * the device is open.
     */
    synchronized void isNotAt(SessionOptions at) {
        if (follower != null) {
            elsewhere.add(key(at));
        }
    }

    /** Whether a login with its ISID at this portal may end it, and cannot end the session that its path has now. */
    synchronized boolean mayBeAt(SessionOptions at) {
        return !elsewhere.contains(key(at));
    }

    private static String key(SessionOptions at) {
        return at.scheme() + "://" + at.portal().host() + ":" + at.portal().port();
    }

    /** Called when a device is closed. If its path had the session, no session with this ISID needs to be spared. */
    synchronized void closed(BarrierUser device) {
        if (device.equals(follower)) {
            follower = null;
            elsewhere.clear();
        }
    }

    /** Returns why the latest attempt to end it has failed; empty if there was none. */
    String obstacle() {
        return obstacle;
    }

    void notEnded(String why) { obstacle = why; }

    /** Whether it reaches its unit now, and so would have heard of a power failure. Blocks. */
    boolean reachesUnit() {
        try {
            return PortGroup.isThere(device()) && session().isOpen();
        } catch (StorageException _) {
            return false;
        }
    }

    /** Adds a write that has ended unanswered. Returns false where the session is known to have ended. */
    synchronized boolean leave(BlockRequest request) {
        if (dead) {
            return false;
        }
        if (unanswered.size() < MAX_RANGES) {
            unanswered.add(new Range(request.lba(), request.blockCount()));
        } else {
            everything = true;
        }
        return true;
    }

    /** Whether the target may still change blocks that a request changes. */
    synchronized boolean mayUndo(BlockRequest request) {
        return !dead && (everything
                || unanswered.stream().anyMatch(range -> range.overlaps(request)));
    }

    /** Whether it has to be ended at the target before writes to its blocks continue. */
    boolean isInDoubt() {
        synchronized (this) {
            if (dead) {
                return false;
            }
            if (everything || !unanswered.isEmpty()) {
                return true;
            }
        }
        return session().leftUnanswered();
    }

    /** Records that the target has ended the session, or that it is no longer tracked. {@link #over} follows. */
    synchronized void ended() {
        dead = true;
        unanswered.clear();
    }

    /** Whether an earlier process has left it. */
    boolean isEarlier() { return device.isEmpty(); }

    /** Called when it has ended for this process: unless it is in doubt, no later process has to end it. May block. */
    void over() {
        if (!isInDoubt() && over.compareAndSet(false, true)) {
            whenOver.run();
        }
    }

    @Override
    public String toString() {
        return "the session with " + options.targetName() + " at "
                + nexus.portal() + " ("
                + (portalGroupTag().isPresent()
                        ? "portal group " + portalGroupTag().getAsInt() + ", "
                        : "")
                + "ISID " + isid() + ")";
    }
}
