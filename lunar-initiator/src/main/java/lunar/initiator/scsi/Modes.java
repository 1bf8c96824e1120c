package lunar.initiator.scsi;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.scsi.CdbForm;
import lunar.scsi.mode.ModePage;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.mode.ModeSense;

/** Mode pages: MODE SENSE(10) and MODE SELECT(10) (SPC-5 sections 6.11 to 6.14). */
public final class Modes {
    private static final int FIRST_BYTES = 512;
    private static final int MAX_BYTES = 0xffff;
    private static final Calls.Length LENGTH = Lengths.in16(0, 2);

    private final Calls calls;

    Modes(Calls calls) { this.calls = calls; }

    /**
     * Returns all pages, without subpages, and write protection.
     *
     * @param control which values: current ones, a mask of changeable bits, defaults or saved ones
     */
    public ModeParameters all(ModeSense.PageControl control) throws StorageException {
        return sense(control, ModeSense.ALL_PAGES, 0);
    }

    /**
     * Returns a page.
     *
     * @param code PAGE CODE
     * @param subpage SUBPAGE CODE; 0 for none
     * @throws InvalidRequestException if there is no such page, and for saved values where none are saved
     */
    public ModePage page(ModeSense.PageControl control, int code, int subpage)
            throws StorageException {
        return find(sense(control, code, subpage), code, subpage)
                .orElseThrow(() -> calls.nonsense(command(control, code, subpage, 0),
                        "the page does not exist", null));
    }

    /** Returns the current values of a page. */
    public ModePage page(int code) throws StorageException {
        return page(ModeSense.PageControl.CURRENT, code, 0);
    }

    /** Returns the saved values of a page; empty if the unit does not save it. */
    public Optional<ModePage> saved(int code, int subpage) throws StorageException {
        try {
            return Optional.of(page(ModeSense.PageControl.SAVED, code, subpage));
        } catch (InvalidRequestException _) {
            return Optional.empty();
        }
    }

    /**
     * Changes a page: reads its current values and selects the result of {@code change}. If another initiator changes
     * mode pages in between, which the unit reports by a unit attention, both steps are repeated.
     *
     * @param change maps the current page to the wanted one, for example by {@link ModePage#withParameters}; may be
     *        called more than once
     * @param save SP: the values survive a loss of power
     * @return the page as read back afterwards
     * @throws InvalidRequestException if a bit cannot be changed; the field pointer is in the cause
     */
    public ModePage change(int code, int subpage, UnaryOperator<ModePage> change, boolean save)
            throws StorageException {
        var retries = new RetryPolicy();
        while (true) {
            ModePage wanted = change
                    .apply(page(ModeSense.PageControl.CURRENT, code, subpage));
            // PS is reserved in MODE SELECT.
            ModePage sent = ModePage.of(wanted.code(), wanted.subpage(), false,
                    wanted.parameters());
            byte[] list = new ModeParameters(0, 0, Optional.empty(), List.of(sent))
                    .select(CdbForm.CDB10).bytes();
            var select = new ModeSelect(CdbForm.CDB10, true, false, save, list.length);
            ScsiResult result = calls.once(select, MemorySegment.NULL,
                    MemorySegment.ofArray(list));
            if (retries.pauseMs(result.status(), result.senseData(), false,
                    0) == RetryPolicy.NEVER) {
                result.orThrow(calls.describe(select));
                return page(ModeSense.PageControl.CURRENT, code, subpage);
            }
        }
    }

    /**
     * Reverts all pages to their defaults (RTD); few units support that.
     *
     * @param save whether the defaults become the saved values, too
     */
    public void revertToDefaults(boolean save) throws StorageException {
        calls.send(new ModeSelect(CdbForm.CDB10, true, true, save, 0));
    }

    private ModeParameters sense(ModeSense.PageControl control, int code, int subpage)
            throws StorageException {
        return calls.ask(bytes -> command(control, code, subpage, bytes), FIRST_BYTES, MAX_BYTES,
                LENGTH, bytes -> ModeParameters.decodeSense(CdbForm.CDB10, bytes));
    }

    private static ModeSense command(ModeSense.PageControl control, int code, int subpage,
            int bytes) {
        return new ModeSense(CdbForm.CDB10, false, true, control, code, subpage, bytes);
    }

    private static Optional<ModePage> find(ModeParameters parameters, int code, int subpage) {
        return parameters.pages().stream()
                .filter(page -> page.code() == code && page.subpage() == subpage).findFirst();
    }
}
