package lunar.admin.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.service.ScanKind;
import lunar.raid.service.VolumeHealth;
import lunar.raid.service.VolumeStatus;

/** The metrics of a volume whose rebuild is running, as Prometheus gets them. */
public final class VolumeSamples {
    private VolumeSamples() {}

    /** Returns the samples in the text form of Prometheus. */
    public static String text() throws IOException {
        var families = new Families();
        VolumeMetrics.add(families, new VolumeStatus("raid1:music", UUID.randomUUID(),
                Level.RAID1, 1 << 20, 512, 65536, Consistency.BITMAP, false,
                VolumeHealth.REBUILDING,
                List.of(new VolumeStatus.Slot(0, "disk:0", UUID.randomUUID(), SlotState.ACTIVE, "",
                        0, 0)),
                List.of(new VolumeStatus.Scan(ScanKind.REBUILD, OptionalInt.of(0), 1, 2, 0,
                        OptionalLong.empty())),
                Optional.empty(), List.of(), Optional.empty(), 0,
                new VolumeStatus.Traffic(0, 0, 0, 0)));
        var text = new ByteArrayOutputStream();
        ExpositionFormats.init().getPrometheusTextFormatWriter().write(text,
                new MetricSnapshots(families.snapshots()));
        return text.toString(UTF_8);
    }
}
