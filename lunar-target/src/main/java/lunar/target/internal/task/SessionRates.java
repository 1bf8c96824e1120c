package lunar.target.internal.task;

import java.util.Map;
import lunar.scsi.target.DeviceServer;
import org.jspecify.annotations.Nullable;

/**
 * The limits that apply to the commands of a session. Immutable.
 *
 * @param initiator limits the commands of its initiator to all units together; null for no limit
 * @param units limits the commands of all initiators to a unit together; units without a limit are not in it
 */
public record SessionRates(@Nullable RateLimiter initiator,
        Map<DeviceServer, RateLimiter> units) {
    /** No limit. */
    public static final SessionRates NONE = new SessionRates(null, Map.of());

    public SessionRates {
        units = Map.copyOf(units);
    }

    boolean isUnlimited() { return initiator == null && units.isEmpty(); }
}
