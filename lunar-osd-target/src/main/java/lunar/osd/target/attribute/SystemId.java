package lunar.osd.target.attribute;

import java.nio.ByteBuffer;
import java.util.UUID;
import lunar.block.StorageException;
import lunar.osd.security.Credential;
import lunar.osd.store.ObjectReader;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.page.RootAttribute;
import lunar.scsi.Bytes;

/** The OSD system identifier. */
public final class SystemId {
    private SystemId() {}

    /** Returns the identifier that FORMAT OSD has set; before, one made of the device's UUID. */
    public static Bytes of(ObjectReader objects, UUID device) throws StorageException {
        Bytes set = objects.attribute(ObjectId.ROOT, RootAttribute.SYSTEM_ID.id());
        return set.length() > 0
                ? set
                : Bytes.of(ByteBuffer.allocate(Credential.SYSTEM_ID_LENGTH)
                        .putLong(device.getMostSignificantBits())
                        .putLong(device.getLeastSignificantBits()).array());
    }
}
