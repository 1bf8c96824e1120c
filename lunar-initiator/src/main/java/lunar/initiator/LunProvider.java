package lunar.initiator;

import java.io.IOException;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceUri;
import lunar.block.StorageException;
import lunar.block.spi.DeviceProvider;
import lunar.scsi.Lun;

/** Opens {@code iscsi:} and {@code iser:} URIs: an initiator and a session for one LUN, closed with it. */
public final class LunProvider implements DeviceProvider {
    /** Name of an initiator that is given none. */
    public static final String DEFAULT_INITIATOR_NAME = "iqn.2026-11.org.lunar:host";

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
                .create(parsed.initiatorName().orElse(DEFAULT_INITIATOR_NAME));
        try {
            Session session = initiator.login(parsed.sessionOptions());
            return session.open(lun, initiator::close);
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
}
