package lunar.osd.wire.sense;

import java.util.Optional;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseDescriptor;

/**
 * The OSD response integrity check value descriptor (type 07h).
 *
 * @param value 20 bytes in OSD-1, 32 in OSD-2
 */
public record ResponseIntegrityCheck(Bytes value) {
    /** DESCRIPTOR TYPE. */
    public static final int TYPE = 0x07;

    /** The value in sense data, if there is one. */
    public static Optional<ResponseIntegrityCheck> of(Sense sense) {
        return sense.descriptor(TYPE).map(SenseDescriptor::content)
                .map(ResponseIntegrityCheck::new);
    }

    /** The descriptor. */
    public SenseDescriptor descriptor() {
        return new SenseDescriptor(TYPE, value);
    }

    /** Leaves out the value. */
    @Override
    public String toString() { return "ResponseIntegrityCheck[" + value.length() + " bytes]"; }
}
