package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;

/**
 * The state of the device of each slot of a running volume: its URI, why it does not work, and when to try it
 * again. For any thread.
 */
final class SlotRegistry {
    /** Number of the longest backoff periods without a failure after which earlier failures are forgotten. */
    private static final int WELL = 10;

    private final RunTiming timing;
    /** Guarded by this, as is the next. */
    private final List<SlotRecovery> slots = new ArrayList<>();
    /** URIs of devices that are in no slot, where missing members may be. */
    private final List<String> others = new ArrayList<>();

    SlotRegistry(VolumeOpening.Opened opened, RunTiming timing) {
        this.timing = timing;
        long now = System.nanoTime();
        for (int slot = 0; slot < opened.uris().size(); slot++) {
            var recovery = new SlotRecovery(opened.uris().get(slot), now);
            recovery.why = opened.composition().slots().get(slot).why();
            recovery.isOut = opened.metadata().record().members().get(slot).isOut();
            slots.add(recovery);
        }
        others.addAll(opened.others());
    }

    synchronized int count() { return slots.size(); }

    synchronized String uri(int slot) { return slots.get(slot).uri; }

    synchronized String why(int slot) { return slots.get(slot).why; }

    /** Adds a slot, whose URI is not known yet. */
    synchronized void add() {
        slots.add(new SlotRecovery("", System.nanoTime()));
    }

    synchronized void setUri(int slot, String uri) { slots.get(slot).uri = uri; }

    /** Notes that a slot's member has failed. */
    synchronized void failed(int slot, StorageException cause) {
        SlotRecovery recovery = slots.get(slot);
        recovery.why = String.valueOf(cause.getMessage());
        recovery.isOut |= cause instanceof MediumException
                || cause instanceof WriteProtectedException;
        recovery.failedNs = System.nanoTime();
        boolean wasWell = recovery.failedNs - recovery.wholeNs > WELL
                * timing.lastRetry().toNanos();
        recovery.failures = wasWell ? 1 : recovery.failures + 1;
        recovery.nextNs = recovery.failedNs + timing.retryAfter(recovery.failures).toNanos();
    }

    /** Notes that a slot has all data again. */
    synchronized void whole(int slot) {
        slots.get(slot).why = "";
        slots.get(slot).wholeNs = System.nanoTime();
    }

    /** Notes that the member of a slot stays out until the operator wants it back. */
    synchronized void setOut(int slot) {
        slots.get(slot).isOut = true;
    }

    synchronized boolean isOut(int slot) { return slots.get(slot).isOut; }

    /** Notes why the member of a slot is missing; an empty reason says nothing new. */
    synchronized void note(int slot, String why) {
        if (!why.isEmpty()) {
            slots.get(slot).why = why;
        }
    }

    /** Notes that a device, another one or the same again, is in a slot. */
    synchronized void changed(int slot, String uri) {
        SlotRecovery recovery = slots.get(slot);
        if (!recovery.uri.equals(uri)) {
            others.remove(uri);
            recovery.uri = uri;
        }
        recovery.why = "";
        recovery.isOut = false;
    }

    /** Whether the member of a slot is to be tried again now. */
    synchronized boolean isDue(int slot) {
        return slots.get(slot).isDue(timing);
    }

    /** Ends the backoff of all slots. */
    synchronized void retryNow() {
        long now = System.nanoTime();
        slots.forEach(slot -> slot.nextNs = now);
    }

    /** Whether a slot has been without a member for so long that it gets a spare. */
    synchronized boolean isSpareDue(int slot) {
        return System.nanoTime() - slots.get(slot).failedNs >= timing.spareAfter().toNanos();
    }

    /** Returns the URIs where the member of a slot may be, its own first. */
    synchronized List<String> uris(int slot) {
        var uris = new ArrayList<String>();
        uris.add(slots.get(slot).uri);
        others.stream().filter(uri -> !uris.contains(uri)).forEach(uris::add);
        return uris;
    }

    /** Whether a URI is that of a slot. */
    synchronized boolean isTaken(String uri) {
        return slots.stream().anyMatch(slot -> slot.uri.equals(uri));
    }

    /** Whether a URI is that of another slot. */
    synchronized boolean isTakenByOther(int slot, String uri) {
        for (int other = 0; other < slots.size(); other++) {
            if (other != slot && slots.get(other).uri.equals(uri)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the slot of a device, named by its URI or the slot's number; empty if it is in none. */
    synchronized OptionalInt slotOf(String name) {
        for (int slot = 0; slot < slots.size(); slot++) {
            if (slots.get(slot).uri.equals(name) || Integer.toString(slot).equals(name)) {
                return OptionalInt.of(slot);
            }
        }
        return OptionalInt.empty();
    }
}
