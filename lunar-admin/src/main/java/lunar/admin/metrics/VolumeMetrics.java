package lunar.admin.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import lunar.admin.report.VolumeReport;
import lunar.raid.SlotState;
import lunar.raid.service.VolumeHealth;
import lunar.raid.service.VolumeStatus;

/** Metrics of RAID volumes and their members. */
final class VolumeMetrics {
    private static final int PERCENT = 100;

    private VolumeMetrics() {}

    /** Adds the metrics of a volume. */
    static void add(Families to, VolumeStatus status) {
        Labels volume = Labels.of("volume", status.title());
        for (VolumeHealth health : VolumeHealth.values()) {
            to.gauge("lunar_volume_state", "1 for the state that the volume is in.",
                    volume.add("state", health.toString()), health == status.health() ? 1 : 0);
        }
        to.gauge("lunar_volume_size_bytes", "Size of the volume.", volume, status.sizeBytes());
        to.gauge("lunar_volume_bad_blocks", "Blocks that have lost their content.", volume,
                status.badBlocks());
        to.gauge("lunar_volume_spares", "Devices that wait for a slot.", volume,
                status.spares().size());
        to.counter("lunar_volume_read_bytes", "Data that hosts have read from the volume.", volume,
                status.traffic().readBytes());
        to.counter("lunar_volume_written_bytes", "Data that hosts have written to the volume.",
                volume, status.traffic().writtenBytes());
        for (VolumeStatus.Slot slot : status.slots()) {
            addMember(to, volume.add("slot", String.valueOf(slot.slot())), slot);
        }
        for (VolumeStatus.Scan scan : status.scans()) {
            to.gauge("lunar_volume_scan_progress_ratio",
                    "Progress of a background scan, such as a rebuild, from 0 to 1.",
                    volume.add("kind", scan.kind().toString()).add("slot",
                            scan.slot().isPresent()
                                    ? String.valueOf(scan.slot().getAsInt())
                                    : ""),
                    scan.percent() / PERCENT);
        }
    }

    private static void addMember(Families to, Labels member, VolumeStatus.Slot slot) {
        for (SlotState state : SlotState.values()) {
            to.gauge("lunar_volume_member_state", "1 for the state that the slot is in.",
                    member.add("state", VolumeReport.word(state)), state == slot.state() ? 1 : 0);
        }
        to.counter("lunar_volume_member_repairs",
                "Ranges of the member that were repaired.", member, slot.repairs());
        to.counter("lunar_volume_member_errors",
                "Ranges of the member that could not be repaired.", member, slot.errors());
    }
}
