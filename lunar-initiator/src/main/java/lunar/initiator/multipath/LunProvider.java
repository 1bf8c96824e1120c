package lunar.initiator.multipath;

import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.StorageException;
import lunar.block.spi.DeviceProvider;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;
import lunar.initiator.SessionOptions;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;

/**
 * Opens {@code iscsi:}, {@code iscsis:} and {@code iser:} URIs: creates an initiator and sessions for one LUN, closed
 * together with the device.
 */
public final class LunProvider implements DeviceProvider {
    /** For the {@link java.util.ServiceLoader}. */
    public LunProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of(Transports.ISCSI, Transports.ISCSIS, Transports.ISER);
    }

    @Override
    public BlockDevice open(DeviceUri uri) throws StorageException {
        return open(uri, DeviceRecords.NONE);
    }

    /** {@inheritDoc} The records of connections have the sessions, for the process that comes after this one. */
    @Override
    public BlockDevice open(DeviceUri uri, DeviceRecords records) throws StorageException {
        IscsiUri parsed = IscsiUri.of(uri);
        Lun lun = lun(parsed);
        Initiator initiator = Initiator.create(InitiatorOptions
                .of(parsed.initiatorName().orElse(InitiatorOptions.DEFAULT_NAME))
                .withPolling(parsed.polling()).withRdmaDevice(parsed.rdmaProvider()));
        try {
            MultipathOptions options = options(initiator, parsed, lun);
            return MultipathDevice.open(initiator,
                    records.connections().map(options::withRecords).orElse(options),
                    initiator::close);
        } catch (StorageException e) {
            initiator.close();
            throw e;
        } catch (IOException e) {
            initiator.close();
            throw new DeviceGoneException(String.valueOf(e.getMessage()), e); // names the place and the failure
        } catch (RuntimeException e) {
            initiator.close();
            throw e;
        }
    }

    @Override
    public void check(DeviceUri uri) { Lun _ = lun(IscsiUri.of(uri)); }

    private static Lun lun(IscsiUri uri) {
        return uri.lun().orElseThrow(() -> new IllegalArgumentException(
                "the URI of " + uri.sessionOptions().targetName()
                        + " has no LUN; append its number, as in .../0"));
    }

    private static MultipathOptions options(Initiator initiator, IscsiUri uri, Lun lun)
            throws IOException {
        SessionOptions first = uri.sessionOptions();
        IscsiUri.Paths paths = uri.paths();
        List<TargetAddress> told = paths.sessions() == 1 && first.connections() == 1
                ? List.of()
                : portals(initiator, first);
        List<TargetAddress> portals = Stream.concat(Stream.of(first.portal()),
                told.stream().map(LunProvider::bare)).distinct().toList();
        MultipathOptions options = MultipathOptions.of(IntStream.range(0, paths.sessions())
                .mapToObj(i -> first.withPortal(portals.get(i % portals.size()))
                        .withOtherPortals(told))
                .toList(), lun);
        if (paths.policy().isPresent()) {
            options = options.withPolicy(switch (paths.policy().get()) {
                case "fixed" -> PathPolicy.fixed();
                case "round-robin" -> PathPolicy.roundRobin();
                case "service-time" -> PathPolicy.serviceTime();
                default -> PathPolicy.leastQueue();
            });
        }
        options = options.withStableCache(paths.stableCache());
        return paths.noPathMs().isPresent()
                ? options.withNoPathMs(paths.noPathMs().getAsLong())
                : options;
    }

    /** Returns the portals of a target that discovery reports, with their groups. */
    private static List<TargetAddress> portals(Initiator initiator, SessionOptions known)
            throws IOException {
        return initiator.discover(known).stream()
                .filter(target -> target.name().equals(known.targetName()))
                .flatMap(target -> target.addresses().stream()).toList();
    }

    private static TargetAddress bare(TargetAddress address) {
        return new TargetAddress(address.host(), address.port(), OptionalInt.empty());
    }
}
