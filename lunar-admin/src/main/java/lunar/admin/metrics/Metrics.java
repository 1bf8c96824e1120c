package lunar.admin.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.admin.report.Administered;
import lunar.admin.report.StatusReport;
import lunar.admin.report.VolumeReport;
import lunar.iscsi.text.PeerText;
import lunar.raid.service.RunningVolume;
import lunar.server.StorageServer;
import lunar.server.UnitStatus;
import lunar.target.status.SessionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of a server. Nothing is counted here: a scrape reads counters that exist anyway; only what the JVM has
 * allocated is counted from the first scrape on. Thread-safe.
 *
 * <p>Metrics of initiators are those of their sessions now: the counters of an initiator port start anew with its next
 * session, as those of a process that was restarted do.
 */
public final class Metrics {
    private final Administered subject;
    private final Instant started;
    private final ExpositionFormats formats = ExpositionFormats.init();

    private @Nullable PrometheusRegistry jvm;

    /**
     * A scrape.
     *
     * @param contentType of the form that was chosen
     */
    @SuppressWarnings("ArrayRecordComponent") // sent at once, never compared
    public record Scrape(String contentType, byte[] text) {}

    /** @param started when the server was started */
    public Metrics(Administered subject, Instant started) {
        this.subject = subject;
        this.started = started;
    }

    /**
     * Returns all metrics.
     *
     * @param accept the Accept header: OpenMetrics if it asks for that, else the text form of Prometheus
     */
    public Scrape scrape(String accept) {
        ExpositionFormatWriter writer = accept.contains("application/openmetrics-text")
                ? formats.getOpenMetricsTextFormatWriter()
                : formats.getPrometheusTextFormatWriter();
        var text = new ByteArrayOutputStream();
        try {
            writer.write(text, new MetricSnapshots(snapshots()));
        } catch (IOException e) {
            throw new IllegalStateException("memory cannot fail", e);
        }
        return new Scrape(writer.getContentType(), text.toByteArray());
    }

    private List<MetricSnapshot> snapshots() {
        var families = new Families();
        addServer(families);
        StorageServer server = subject.server();
        server.unitStatuses().forEach(unit -> addUnit(families, unit));
        addSessions(families, server.sessions());
        VolumeReport.running(server).stream().map(RunningVolume::status)
                .forEach(status -> VolumeMetrics.add(families, status));
        var all = new ArrayList<>(families.snapshots());
        jvm().scrape().forEach(all::add);
        return all;
    }

    /** Made by the first scrape: the management beans of the JVM take memory and time at the start. */
    private synchronized PrometheusRegistry jvm() {
        PrometheusRegistry registry = jvm;
        if (registry == null) {
            registry = new PrometheusRegistry();
            JvmMetrics.builder().register(registry);
            jvm = registry;
        }
        return registry;
    }

    private void addServer(Families to) {
        StorageServer server = subject.server();
        to.gauge("lunar_build_info", "1, with the version of the server.",
                Labels.of("version", subject.version()), 1);
        to.gauge("lunar_start_time_seconds", "When the server was started, in Unix time.",
                Labels.EMPTY, started.getEpochSecond());
        to.gauge("lunar_problems", "Number of problems that 'lunar status' shows.", Labels.EMPTY,
                StatusReport.of(subject, started).problems().size());
        to.gauge("lunar_connections", "Open connections, in any phase.", Labels.EMPTY,
                server.connectionCount());
        to.gauge("lunar_buffer_bytes", "Memory that is lent to commands.", Labels.EMPTY,
                server.bufferBytesInUse());
    }

    private static void addUnit(Families to, UnitStatus unit) {
        Labels labels = Labels.of("target", unit.unit().iqn(), "lun",
                String.valueOf(unit.unit().lun()));
        CommandMetrics.add(to, "lunar_lun_", labels, unit.commands());
        CommandMetrics.addDurations(to, "lunar_lun_", labels, unit.commands());
        if (unit.unit().sizeBytes() >= 0) {
            to.gauge("lunar_lun_size_bytes", "Size of the unit.", labels,
                    unit.unit().sizeBytes());
        }
        unit.usage().ifPresent(usage -> {
            to.gauge("lunar_lun_used_bytes", "Space that is allocated for the unit.", labels,
                    usage.usedBytes());
            to.gauge("lunar_lun_available_bytes",
                    "Space that the store behind the unit can still allocate.", labels,
                    usage.availableBytes());
        });
    }

    private void addSessions(Families to, List<SessionStatus> sessions) {
        Map<String, Integer> counts = new HashMap<>();
        subject.server().units().forEach(unit -> counts.putIfAbsent(unit.iqn(), 0));
        for (SessionStatus session : sessions) {
            counts.merge(session.targetName(), 1, Integer::sum);
            CommandMetrics.add(to, "lunar_initiator_",
                    Labels.of("target", session.targetName(), "initiator",
                            PeerText.printable(session.initiatorName()), "isid",
                            session.isid().toString(), "portal_group",
                            String.valueOf(session.login().portalGroupTag().orElse(0))),
                    session.commands());
        }
        counts.forEach((target, count) -> to.gauge("lunar_target_sessions",
                "Sessions at the target.", Labels.of("target", target), count));
    }
}
