package lunar.testkit.echo;

import java.util.Set;
import java.util.UUID;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.Identity;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitSpec;
import lunar.scsi.target.spi.UnitProvider;
import lunar.scsi.target.spi.UnitSource;

/** Serves echo devices by URIs: {@code echo:NAME}. */
public final class EchoProvider implements UnitProvider {
    /** An echo device has nothing but its name. */
    private record Source(String name) implements UnitSource {
        @Override
        public UUID identity() { return Identity.uuidOf(name); }

        @Override
        public long sizeBytes() { return 0; }

        @Override
        public UnitSpec spec(StateStore state) { return new EchoSpec(name, state); }

        @Override
        public void close() {}
    }

    /** Called by {@link java.util.ServiceLoader}. */
    public EchoProvider() {}

    @Override
    public Set<String> schemes() { return Set.of("echo"); }

    @Override
    public UnitSource open(DeviceUri uri, DeviceRecords records) {
        uri.requireKnownOptions(Set.of());
        if (uri.rest().isEmpty()) {
            throw new IllegalArgumentException(
                    "an echo: URI has no name; write for example echo:a");
        }
        return new Source(uri.rest());
    }
}
