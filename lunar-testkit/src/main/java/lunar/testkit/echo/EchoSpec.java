package lunar.testkit.echo;

import java.io.IOException;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.PeripheralDevice;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.UnitSpec;

/**
 * Describes an echo device, which returns the data that it receives. Immutable.
 *
 * @param name its serial number
 * @param state store of reservations and saved mode pages
 */
public record EchoSpec(String name, StateStore state) implements UnitSpec {
    /** Returns an echo device whose state is lost when the process ends. */
    public static EchoSpec of(String name) {
        return new EchoSpec(name, StateStore.inMemory());
    }

    /** {@inheritDoc} Echo devices are identified by their stores. */
    @Override
    public Object key() { return state; }

    @Override
    public PeripheralDevice open(LogicalUnit unit, CommandSet commands, UnitContext context)
            throws IOException {
        var device = new EchoDevice(unit, this);
        device.register(commands);
        return device;
    }
}
