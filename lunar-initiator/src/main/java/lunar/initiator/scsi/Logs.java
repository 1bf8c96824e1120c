package lunar.initiator.scsi;

import java.util.ArrayList;
import java.util.List;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.scsi.log.LogPage;
import lunar.scsi.log.LogSelect;
import lunar.scsi.log.LogSense;

/** Log pages: LOG SENSE and LOG SELECT (SPC-5 sections 6.9 and 6.8). */
public final class Logs {
    private static final int FIRST_BYTES = 1024;
    private static final int MAX_BYTES = 0xffff;

    private final Calls calls;

    Logs(Calls calls) { this.calls = calls; }

    /** Returns the codes of the supported pages, in ascending order. */
    public List<Integer> pages() throws StorageException {
        LogPage page = page(LogPage.SUPPORTED_PAGES);
        var codes = new ArrayList<Integer>();
        for (int i = 0; i < page.content().length(); i++) {
            codes.add(page.content().at(i) & 0x3f);
        }
        return codes;
    }

    /**
     * Returns a page with its cumulative values.
     *
     * @param code PAGE CODE
     * @throws InvalidRequestException if there is no such page
     */
    public LogPage page(int code) throws StorageException { return page(code, 0); }

    /** Like {@link #page(int)}, but for a subpage. */
    public LogPage page(int code, int subpage) throws StorageException {
        LogPage page = calls.ask(bytes -> command(code, subpage, bytes), FIRST_BYTES, MAX_BYTES,
                Lengths.in16(2, 4), LogPage::decode);
        if (page.code() != code || page.subpage() != subpage) {
            throw calls.nonsense(command(code, subpage, 0),
                    "page " + page.code() + "/" + page.subpage(), null);
        }
        return page;
    }

    /** Resets the counters of all pages. */
    public void reset() throws StorageException {
        reset(0);
    }

    /**
     * Resets the counters of a page (PCR).
     *
     * @param code PAGE CODE; 0 for all
     */
    public void reset(int code) throws StorageException {
        calls.send(new LogSelect(true, false, LogSelect.DEFAULT_CUMULATIVE, code, 0, 0));
    }

    private static LogSense command(int code, int subpage, int bytes) {
        return new LogSense(false, LogSense.CUMULATIVE, code, subpage, 0, bytes);
    }
}
