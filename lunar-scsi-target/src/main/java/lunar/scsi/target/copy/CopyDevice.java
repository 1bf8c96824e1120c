package lunar.scsi.target.copy;

/** A device whose blocks third-party copies can read and write. */
public interface CopyDevice {
    /** Returns the unit for use by copies. */
    CopyUnit copies();
}
