package lunar.initiator.scsi;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.scsi.Bytes;
import lunar.scsi.block.PreventAllowMediumRemoval;
import lunar.scsi.block.StartStopUnit;
import lunar.scsi.primary.IdentifyingInformation;
import lunar.scsi.primary.ReportIdentifyingInformation;
import lunar.scsi.primary.ReportTimestamp;
import lunar.scsi.primary.SendDiagnostic;
import lunar.scsi.primary.SetIdentifyingInformation;
import lunar.scsi.primary.SetTimestamp;
import lunar.scsi.primary.Timestamp;

/** Maintenance of a unit by its operator: tests, clock, labels, medium (SPC-5, and SBC-4 for the medium). */
public final class Maintenance {
    private static final int TIMESTAMP_BYTES = 12;
    private static final int FIRST_BYTES = 516;
    private static final int MAX_BYTES = 4 + 0xffff;

    private final Calls calls;

    Maintenance(Calls calls) { this.calls = calls; }

    /**
     * SEND DIAGNOSTIC with SELFTEST (SPC-5 section 6.42): runs the default self-test and waits for its end, which has
     * to come within the time for a command.
     *
     * @throws lunar.block.MediumException if the unit has failed it
     */
    public void selfTest() throws StorageException {
        calls.send(new SendDiagnostic(0, false, true, false, false, 0));
    }

    /**
     * SEND DIAGNOSTIC with a background self-test; its outcome is in the log page of self-test results.
     *
     * @param extended whether it may scan the whole medium
     */
    public void beginSelfTest(boolean extended) throws StorageException {
        calls.send(new SendDiagnostic(extended
                ? SendDiagnostic.BACKGROUND_EXTENDED
                : SendDiagnostic.BACKGROUND_SHORT, false, false, false, false, 0));
    }

    /** REPORT TIMESTAMP (SPC-5 section 6.38): the unit's clock, in milliseconds. */
    public Instant clock() throws StorageException {
        return Instant.ofEpochMilli(calls.ask(new ReportTimestamp(TIMESTAMP_BYTES),
                TIMESTAMP_BYTES, Timestamp::decode).milliseconds());
    }

    /** SET TIMESTAMP (SPC-5 section 6.46). */
    public void setClock(Instant time) throws StorageException {
        var list = new Timestamp(0, time.toEpochMilli());
        calls.send(new SetTimestamp(list.bytes().length), list);
    }

    /** REPORT IDENTIFYING INFORMATION (SPC-5 section 6.33): the text that hosts have stored; may be empty. */
    public String label() throws StorageException {
        Bytes text = calls
                .ask(bytes -> new ReportIdentifyingInformation(bytes,
                        IdentifyingInformation.PERIPHERAL_DEVICE_TEXT), FIRST_BYTES, MAX_BYTES,
                        Lengths.in16(2, 4), IdentifyingInformation::decode)
                .information();
        int end = 0;
        while (end < text.length() && text.at(end) != 0) {
            end++;
        }
        return new String(text.toArray(), 0, end, StandardCharsets.UTF_8);
    }

    /**
     * SET IDENTIFYING INFORMATION (SPC-5 section 6.44), which is saved.
     *
     * @param text up to 255 bytes of UTF-8, without null characters
     */
    public void setLabel(String text) throws StorageException {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        if (text.indexOf('\0') >= 0
                || encoded.length >= IdentifyingInformation.MAX_TEXT_LENGTH) {
            throw new InvalidRequestException(
                    calls.name() + ": a label of " + encoded.length + " bytes");
        }
        byte[] list = new byte[encoded.length == 0 ? 0 : encoded.length + 1];
        System.arraycopy(encoded, 0, list, 0, encoded.length);
        calls.send(new SetIdentifyingInformation(list.length,
                IdentifyingInformation.PERIPHERAL_DEVICE_TEXT), MemorySegment.NULL,
                MemorySegment.ofArray(list));
    }

    /** START STOP UNIT: the unit becomes ready. */
    public void start() throws StorageException {
        startStop(false, true);
    }

    /** START STOP UNIT: the unit writes its caches and stops; commands about the medium fail until it starts. */
    public void stop() throws StorageException {
        startStop(false, false);
    }

    /** START STOP UNIT with LOEJ: takes the medium out of a removable unit. */
    public void eject() throws StorageException {
        startStop(true, false);
    }

    /** START STOP UNIT with LOEJ: puts the medium back. */
    public void load() throws StorageException {
        startStop(true, true);
    }

    /** PREVENT ALLOW MEDIUM REMOVAL (SPC-5): whether this session keeps the medium in. */
    public void preventRemoval(boolean prevent) throws StorageException {
        calls.send(new PreventAllowMediumRemoval(prevent ? 1 : 0));
    }

    private void startStop(boolean loadEject, boolean start) throws StorageException {
        calls.send(new StartStopUnit(false, 0, 0, false, loadEject, start));
    }
}
