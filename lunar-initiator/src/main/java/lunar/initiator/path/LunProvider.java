package lunar.initiator.path;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceUri;
import lunar.block.StorageException;
import lunar.block.spi.DeviceProvider;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;
import lunar.initiator.SessionOptions;
import lunar.iscsi.DiscoveredTarget;
import lunar.iscsi.TargetAddress;
import lunar.scsi.Lun;

/** Opens {@code iscsi:} and {@code iser:} URIs: an initiator and sessions for one LUN, closed with it. */
public final class LunProvider implements DeviceProvider {
    /** For the {@link java.util.ServiceLoader}. */
    public LunProvider() {}

    @Override
    public Set<String> schemes() { return Set.of("iscsi", "iser"); }

    @Override
    public BlockDevice open(DeviceUri uri) throws StorageException {
        IscsiUri parsed = IscsiUri.of(uri);
        Lun lun = parsed.lun().orElseThrow(() -> new IllegalArgumentException(
                "the URI of " + parsed.sessionOptions().targetName()
                        + " has no LUN; write its number at the end, as in .../0"));
        Initiator initiator = Initiator
                .create(parsed.initiatorName().orElse(InitiatorOptions.DEFAULT_NAME));
        try {
            return MultipathDevice.open(initiator, options(initiator, parsed, lun),
                    initiator::close);
        } catch (StorageException e) {
            initiator.close();
            throw e;
        } catch (IOException e) {
            initiator.close();
            throw new DeviceGoneException(String.valueOf(e.getMessage()), e); // tells where and what
        } catch (RuntimeException e) {
            initiator.close();
            throw e;
        }
    }

    private static MultipathOptions options(Initiator initiator, IscsiUri uri, Lun lun)
            throws IOException {
        SessionOptions first = uri.sessionOptions();
        IscsiUri.Paths paths = uri.paths();
        List<TargetAddress> portals = paths.sessions() == 1
                ? List.of(first.portal())
                : portals(initiator, first);
        MultipathOptions options = MultipathOptions.of(IntStream.range(0, paths.sessions())
                .mapToObj(i -> first.withPortal(portals.get(i % portals.size()))).toList(), lun);
        if (paths.policy().isPresent()) {
            options = options.withPolicy(switch (paths.policy().get()) {
                case "fixed" -> PathPolicy.fixed();
                case "round-robin" -> PathPolicy.roundRobin();
                case "service-time" -> PathPolicy.serviceTime();
                default -> PathPolicy.leastQueue();
            });
        }
        return paths.noPathMs().isPresent()
                ? options.withNoPathMs(paths.noPathMs().getAsLong())
                : options;
    }

    /** The portals of a target: the one that is known first, and the others that discovery there tells of. */
    private static List<TargetAddress> portals(Initiator initiator, SessionOptions known)
            throws IOException {
        var portals = new ArrayList<TargetAddress>();
        portals.add(known.portal());
        for (DiscoveredTarget target : initiator.discover(known)) {
            if (target.name().equals(known.targetName())) {
                for (TargetAddress address : target.addresses()) {
                    var bare = new TargetAddress(address.host(), address.port(),
                            java.util.OptionalInt.empty());
                    if (!portals.contains(bare)) {
                        portals.add(bare);
                    }
                }
            }
        }
        return portals;
    }
}
