package lunar.scsi.target;

import java.io.IOException;
import lunar.scsi.target.reservation.ReservationEffects;

/** Factory for logical units. */
public final class LogicalUnits {
    private LogicalUnits() {}

    /**
     * Creates the logical unit of a spec and loads its saved state.
     *
     * @param targetName name of the first target that has the unit; used for registrations that older versions saved
     *        without it
     * @throws IOException if the saved state cannot be read, or is damaged
     */
    public static LogicalUnit open(UnitSpec spec, String targetName, UnitContext context)
            throws IOException {
        var commands = new CommandSet();
        var made = new LogicalUnit(spec.unitKey(), spec.state(), targetName,
                unit -> spec.open(unit, commands, context),
                (unit, device) -> new UnitServer(unit, device, commands));
        made.begin(new ReservationEffects(made)::apply);
        return made;
    }
}
