package lunar.cli.raid.control;

import java.io.IOException;
import java.util.OptionalLong;
import lunar.admin.report.VolumeReport;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.raid.service.RaidProvider;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeRequest;
import lunar.raid.service.VolumeSpec;
import tools.jackson.databind.JsonNode;

/** A volume that this process runs until it is closed. */
public final class LocalVolume implements VolumeControl {
    private final RunningVolume volume;
    /** Ctrl-C stops it in order, too. */
    private final Thread atSignal;

    private LocalVolume(RunningVolume volume) {
        this.volume = volume;
        atSignal = new Thread(volume::close, "lunar-volume-stop");
        Runtime.getRuntime().addShutdownHook(atSignal);
    }

    /** Opens the members and runs the volume. */
    public static LocalVolume open(VolumeSpec spec) throws IOException {
        return new LocalVolume(
                RunningVolume.open(spec, Devices::open, RaidProvider.hosts(), _ -> {}));
    }

    private int apply(VolumeRequest request) throws StorageException {
        return request.applyTo(volume).orElse(-1);
    }

    @Override
    public JsonNode status() { return JsonLines.tree(VolumeReport.of(volume)); }

    @Override
    public void fail(String slot) throws IOException { apply(new VolumeRequest.Fail(slot)); }

    @Override
    public int replace(String slot, String uri, boolean force) throws IOException {
        return apply(new VolumeRequest.Replace(slot, uri, force));
    }

    @Override
    public int add(String name, boolean force) throws IOException {
        return apply(new VolumeRequest.Add(name, force));
    }

    @Override
    public void remove(String name) throws IOException { apply(new VolumeRequest.Remove(name)); }

    @Override
    public int grow(String uri, boolean force) throws IOException {
        return apply(new VolumeRequest.Grow(uri, force));
    }

    @Override
    public void scrub(boolean repair) throws IOException {
        apply(new VolumeRequest.Scrub(repair, OptionalLong.empty()));
    }

    @Override
    public void stop() { volume.close(); }

    @Override
    public boolean isElsewhere() { return false; }

    @Override
    public void close() {
        volume.close();
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(atSignal);
        } catch (IllegalStateException _) {
            // The JVM is ending, by that signal.
        }
    }
}
