package lunar.scsi;

/**
 * A CDB whose operation code determines its length (SAM-5 section 5.2): primary commands and commands of block devices.
 * {@link lunar.scsi.command.CdbDecoder} decodes all of them.
 */
public interface StandardCdb extends Cdb {
    /** The length class of the CDB. */
    CdbForm form();

    @Override
    default int length() { return form().length(); }
}
