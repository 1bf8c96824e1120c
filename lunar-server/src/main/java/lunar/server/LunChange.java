package lunar.server;

import java.util.Optional;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.target.InitiatorSpec;

/**
 * A LUN that a server does not serve as it is configured, because it was changed while the server runs.
 *
 * @param iqn name of the target
 * @param lun its LUN
 * @param configured the unit that is configured there; empty for none
 * @param served the unit that is served there; empty for none
 */
public record LunChange(String iqn, int lun, Optional<ServerPlan.Lun> configured,
        Optional<ServerPlan.Lun> served) {
    /** What was done with the LUN. */
    public enum Kind {
        ADDED, REMOVED, REPLACED, RESIZED
    }

    /** Returns what was done. */
    public Kind kind() {
        if (served.isEmpty()) {
            return Kind.REMOVED;
        }
        if (configured.isEmpty()) {
            return Kind.ADDED;
        }
        return isSameButSize() && size(served.get()).isPresent() ? Kind.RESIZED : Kind.REPLACED;
    }

    /** Whether it is of this LUN. */
    boolean isAt(String target, int number) {
        return lun == number && isOf(target);
    }

    /** Whether it is of a LUN of this target. */
    boolean isOf(String target) {
        return InitiatorSpec.normal(iqn).equals(InitiatorSpec.normal(target));
    }

    /** Whether the LUN is served as configured; a size may be written in another way. */
    boolean isNone() {
        return configured.equals(served)
                || (isSameButSize() && configured.flatMap(this::size)
                        .equals(served.flatMap(this::size)));
    }

    private boolean isSameButSize() {
        return configured.isPresent() && served.isPresent()
                && isSameDevice(configured.get(), served.get())
                && configured.get().withUri("").equals(served.get().withUri(""));
    }

    /** Whether two units of this LUN are on one device, which may have been resized. */
    boolean isSameDevice(ServerPlan.Lun one, ServerPlan.Lun other) {
        return DeviceKey.of(iqn, lun, one.uri()).isSameDevice(DeviceKey.of(iqn, lun, other.uri()));
    }

    /** Returns the size that the URI of a unit of this LUN asks for. */
    Optional<Long> size(ServerPlan.Lun unit) {
        return DeviceKey.of(iqn, lun, unit.uri()).sizeBytes();
    }

    /** Returns one line for a person, without the secrets that URIs may hold. */
    @Override
    public String toString() {
        String where = "LUN " + lun + " of " + iqn;
        return switch (kind()) {
            case ADDED -> where + " was added: " + uri(served);
            case REMOVED -> where + " was removed: " + uri(configured);
            case REPLACED -> where + " was replaced: " + uri(configured) + " by " + uri(served);
            case RESIZED -> where + " was resized to "
                    + served.flatMap(this::size).map(Size::format).orElse("?") + ": "
                    + uri(configured);
        };
    }

    private static String uri(Optional<ServerPlan.Lun> unit) {
        return unit.map(one -> DeviceUri.withoutSecret(one.uri())).orElse("nothing");
    }
}
