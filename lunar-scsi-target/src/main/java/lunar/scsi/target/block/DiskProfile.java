package lunar.scsi.target.block;

/**
 * Presentation of a disk to initiators; see {@link DiskSpec}. Immutable.
 *
 * @param removable RMB
 * @param rotational whether it reports a rotating medium
 * @param readOnly whether initiators may not write
 * @param thick whether it presents itself as fully provisioned
 */
record DiskProfile(boolean removable, boolean rotational, boolean readOnly, boolean thick) {}
