package lunar.scsi;

/** The length of a CDB, which the top three bits of its operation code tell (SAM-5 section 5.2). */
public enum CdbForm {
    CDB6(6), CDB10(10), CDB12(12), CDB16(16);

    private final int length;

    CdbForm(int length) { this.length = length; }

    /** Bytes of the CDB. */
    public int length() { return length; }
}
