package lunar.initiator.scsi;

import java.util.List;
import java.util.Optional;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.DeviceIdentification;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.scsi.vpd.UnitSerialNumber;
import lunar.scsi.vpd.VpdPage;

/** INQUIRY (SPC-5 sections 6.7 and 7.7): the standard data of a unit and its pages of vital product data. */
public final class Inquiries {
    private static final int STANDARD_BYTES = 260;
    private static final int FIRST_PAGE_BYTES = 252;
    private static final int MAX_PAGE_BYTES = 0xffff;

    private final Calls calls;

    Inquiries(Calls calls) { this.calls = calls; }

    /** Returns standard INQUIRY data (SPC-5 section 6.7). */
    public StandardInquiry standard() throws StorageException {
        return calls.ask(new Inquiry(false, 0, STANDARD_BYTES), STANDARD_BYTES,
                StandardInquiry::decode);
    }

    /** Returns the codes of the supported pages, in ascending order. */
    public List<Integer> pages() throws StorageException {
        VpdPage page = page(SupportedVpdPages.CODE);
        return page instanceof SupportedVpdPages supported ? supported.codes() : List.of();
    }

    /**
     * Returns a whole page.
     *
     * @param code PAGE CODE
     * @throws InvalidRequestException if there is no such page
     */
    public VpdPage page(int code) throws StorageException {
        VpdPage page = calls.ask(bytes -> new Inquiry(true, code, bytes), FIRST_PAGE_BYTES,
                MAX_PAGE_BYTES, VpdPage::fullLength, VpdPage::decode);
        if (page.pageCode() != code) {
            throw calls.nonsense(new Inquiry(true, code, 0), "page " + page.pageCode(), null);
        }
        return page;
    }

    /**
     * Returns a page of a type; empty if the unit has none.
     *
     * @param code PAGE CODE, such as {@code BlockLimits.CODE}
     */
    public <T extends VpdPage> Optional<T> find(int code, Class<T> type) throws StorageException {
        try {
            VpdPage page = page(code);
            return type.isInstance(page) ? Optional.of(type.cast(page)) : Optional.empty();
        } catch (InvalidRequestException | NotSupportedException _) {
            return Optional.empty();
        }
    }

    /** Returns the UNIT SERIAL NUMBER without surrounding blanks; empty if there is none. */
    public String serialNumber() throws StorageException {
        return find(UnitSerialNumber.CODE, UnitSerialNumber.class).map(UnitSerialNumber::serial)
                .orElse("").strip();
    }

    /** Returns the names of the unit, and of the port and the device through which it was asked. */
    public List<Designator> designators() throws StorageException {
        return find(DeviceIdentification.CODE, DeviceIdentification.class)
                .map(DeviceIdentification::designators).orElse(List.of());
    }
}
