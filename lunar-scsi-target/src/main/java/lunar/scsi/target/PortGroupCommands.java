package lunar.scsi.target;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lunar.block.BusyException;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.primary.ReportTargetPortGroups;
import lunar.scsi.primary.SetTargetPortGroups;
import lunar.scsi.primary.TargetPortGroupStates;
import lunar.scsi.primary.TargetPortGroupStates.Wanted;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TargetPortGroups.State;

/** Executes REPORT and SET TARGET PORT GROUPS (SPC-5 sections 6.36 and 6.45). */
final class PortGroupCommands {
    /** Reported maximum duration of a transition that the device initiates, in seconds. */
    private static final int TRANSITION_S = 60;

    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final Sense COMMAND_FAILED = Sense.of(SenseKey.HARDWARE_ERROR,
            AdditionalSense.SET_TARGET_PORT_GROUPS_COMMAND_FAILED);

    private final LogicalUnit unit;
    private final AsymmetricAccess access;

    PortGroupCommands(LogicalUnit unit) {
        this.unit = unit;
        access = unit.access();
    }

    void register(CommandSet commands) {
        commands.add(CommandHandler.of(ReportTargetPortGroups.class, Access.FREE, this::report)
                .passing((_, _) -> true))
                .add(CommandHandler.of(SetTargetPortGroups.class, Access.CONTROL, this::set)
                        .withDataOut(SetTargetPortGroups::parameterListLength)
                        .passing((_, state) -> state != State.TRANSITIONING));
    }

    private void report(ScsiTask task, ReportTargetPortGroups command) {
        List<TargetPortGroups.Group> groups = task.nexus().target().ports().stream().map(port -> {
            PortGroupStates.GroupState group = access.of(port);
            return new TargetPortGroups.Group(port.tag(), false, group.state(),
                    TargetPortGroups.SUPPORTS_ALL_BUT_OFFLINE, group.statusCode(),
                    List.of(port.relativeId()));
        }).toList();
        task.good(new TargetPortGroups(command.extended(), command.extended() ? TRANSITION_S : 0,
                groups).bytes(), command.allocationLength());
    }

    /** Checks the whole list, then changes all of it. */
    private void set(ScsiTask task, SetTargetPortGroups command) {
        if (command.parameterListLength() == 0) {
            task.good(); // an empty list is not an error
            return;
        }
        try {
            if (task.dataOut().byteSize() < command.parameterListLength()) { // a cut list may be valid by itself
                throw InvalidParameterListException.length();
            }
            List<Wanted> wanted = TargetPortGroupStates.decode(task.dataOut()).wanted();
            Map<Integer, TargetPort> ports = task.nexus().target().ports().stream()
                    .collect(Collectors.toMap(TargetPort::tag, port -> port));
            int unknown = IntStream.range(0, wanted.size())
                    .filter(i -> !ports.containsKey(wanted.get(i).group()))
                    .findFirst().orElse(-1);
            if (unknown >= 0) {
                throw InvalidParameterListException
                        .field(TargetPortGroupStates.LENGTH * (unknown + 1) + 2);
            }
            var states = new LinkedHashMap<TargetPort, State>(); // the last one counts
            for (Wanted one : wanted) {
                states.put(Objects.requireNonNull(ports.get(one.group())), one.state());
            }
            if (access.isShared()) {
                task.work(() -> change(task.nexus(), states));
            } else {
                change(task.nexus(), states).accept(task);
            }
        } catch (InvalidParameterListException e) {
            task.checkCondition(e.sense());
        }
    }

    private Consumer<ScsiTask> change(Nexus by, Map<TargetPort, State> states) {
        try {
            unit.changeAccess(states, TargetPortGroups.CHANGED_EXPLICITLY, by);
            return ScsiTask::good;
        } catch (BusyException _) {
            return task -> task.end(Status.BUSY);
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}: {1}", unit.device().identity(),
                    e.getMessage());
            return task -> task.checkCondition(COMMAND_FAILED);
        }
    }
}
