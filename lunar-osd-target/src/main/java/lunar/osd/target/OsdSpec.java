package lunar.osd.target;

import java.io.IOException;
import java.util.Optional;
import lunar.osd.store.ObjectStore;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.PeripheralDevice;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.UnitSpec;

/**
 * Describes an object-based storage device. Immutable.
 *
 * @param store the objects; belongs to the caller, and is not closed by the unit
 * @param state store of reservations and saved mode pages
 * @param security security; empty for NOSEC: any initiator may use all objects
 */
public record OsdSpec(ObjectStore store, StateStore state, Optional<OsdSecurity> security)
        implements
        UnitSpec {
    /** Returns a device whose reservations and mode pages are lost when the process ends. */
    public static OsdSpec of(ObjectStore store) {
        return new OsdSpec(store, StateStore.inMemory(), Optional.empty());
    }

    /** Returns a device with another store of reservations and saved mode pages. */
    public OsdSpec withState(StateStore value) {
        return new OsdSpec(store, value, security);
    }

    /** Returns a device that admits commands by their capabilities. */
    public OsdSpec withSecurity(OsdSecurity value) {
        return new OsdSpec(store, state, Optional.of(value));
    }

    /** {@inheritDoc} Devices are identified by their object stores. */
    @Override
    public Object key() { return store; }

    @Override
    public PeripheralDevice open(LogicalUnit unit, CommandSet commands, UnitContext context)
            throws IOException {
        var device = new OsdDevice(unit, this);
        device.register(commands, context);
        return device;
    }
}
