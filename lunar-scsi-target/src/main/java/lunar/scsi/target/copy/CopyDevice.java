package lunar.scsi.target.copy;

/** A device whose blocks third-party copies can read and write. */
public interface CopyDevice {
    /** The unit as copies use it. */
    CopyUnit copies();
}
