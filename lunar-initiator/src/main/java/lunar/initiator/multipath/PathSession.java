package lunar.initiator.multipath;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.iscsi.pdu.Isid;
import org.jspecify.annotations.Nullable;

/**
 * A present or past session of a path, as an I_T nexus at the target, with its writes of unknown outcome. After it has
 * ended without a Logout it is <em>stale</em>: the target may still execute those writes until it is known to have
 * ended the session. Thread-safe.
 */
final class PathSession {
    /** Maximum number of ranges, more than a session has commands at the target; beyond it the whole unit counts. */
    private static final int MAX_RANGES = 8192;

    private record Range(long lba, long blockCount) {
        boolean overlaps(BlockRequest request) {
            return request.lba() < lba + blockCount && lba < request.lba() + request.blockCount();
        }
    }

    private final String initiatorName;
    private final SessionOptions options;
    private final Isid isid;
    private final OptionalInt portalGroupTag;
    private final Session session;
    private final LunDevice device;
    private final Optional<UUID> server;
    private final List<Range> unanswered = new ArrayList<>(0); // guarded by this
    private boolean everything; // guarded by this
    private boolean dead; // guarded by this
    /** Portals of other groups, as "scheme://host:port". Guarded by this. */
    private final Set<String> elsewhere = new HashSet<>(0);
    /** The device with a path that logs in with the ISID; null once it is closed. Guarded by this. */
    private @Nullable BarrierUser follower;
    /** The device of the path that had the session, and ends it by its next login; null once it is closed. */
    private volatile @Nullable BarrierUser owner;

    /** @param server the server of Lunar that has the session, where that is known */
    PathSession(String initiatorName, SessionOptions options, Isid isid, Session session,
            LunDevice device, Optional<UUID> server, BarrierUser owner) {
        this.initiatorName = initiatorName;
        this.options = options;
        this.isid = isid;
        this.session = session;
        this.device = device;
        this.server = server;
        this.owner = owner;
        follower = owner;
        portalGroupTag = session.loginResult().portalGroupTag();
    }

    String initiatorName() { return initiatorName; }

    /** Returns the options of the session's login, with the portal where it was. */
    SessionOptions options() {
        return options.withPortal(session.portal());
    }

    Isid isid() { return isid; }

    OptionalInt portalGroupTag() { return portalGroupTag; }

    Session session() { return session; }

    LunDevice device() { return device; }

    Optional<UUID> server() { return server; }

    boolean isOf(BarrierUser device) { return device.equals(owner); }

    void orphan() { owner = null; }

    /** Whether a login by the portals of another session's group reaches the nexus (RFC 7143 section 4.4.1). */
    boolean isInGroupOf(PathSession other) {
        return portalGroupTag.isPresent() && portalGroupTag.equals(other.portalGroupTag)
                && options.targetName().equals(other.options.targetName());
    }

    /** Whether a session would take the place of this one at the target (RFC 7143 section 6.3.5). */
    boolean isReinstatedBy(Session other, Isid by) {
        return isid.equals(by)
                && portalGroupTag.equals(other.loginResult().portalGroupTag())
                && (portalGroupTag.isPresent() || session.portal().equals(other.portal()))
                && options.targetName().equals(other.targetName());
    }

    /** Records that a login with its ISID at this portal was in another group: it does not end this session. */
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

    /** Whether it reaches its unit now, and so would have heard of a power failure. Blocks. */
    boolean reachesUnit() {
        try {
            return PortGroup.isThere(device) && session.isOpen();
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
            if (!unanswered.isEmpty()) {
                return true;
            }
        }
        return session.leftUnanswered();
    }

    /** Records that the target has ended the session. */
    synchronized void ended() {
        dead = true;
        unanswered.clear();
    }

    @Override
    public String toString() {
        return "the session with " + options.targetName() + " at " + session.portal()
                + " ("
                + (portalGroupTag.isPresent()
                        ? "portal group " + portalGroupTag.getAsInt() + ", "
                        : "")
                + "ISID " + isid + ")";
    }
}
