package lunar.cli;

import lunar.cli.command.Failure;
import lunar.cli.command.Json;

import lunar.cli.config.OpenDevices;
import lunar.cli.config.ReadOnlyUri;

import lunar.cli.command.Console;

import lunar.cli.config.ConfigOption;

import lunar.cli.command.DeviceCommand;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceUri;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.NotSupportedException;
import lunar.block.Size;
import lunar.cli.osd.ObjectStoreInfo;
import lunar.osd.client.AccessDeniedException;
import lunar.osd.client.OsdConnection;
import lunar.osd.client.OsdInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar info}: what a device is and can do. */
@Command(name = "info",
        description = "Show size, block size, identity and capabilities of a device; or capacity, use and partitions of an object store.",
        footer = {
                "", "Examples:", "  lunar info 'file:disk.img?size=1GiB'",
                "  lunar info iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0 --json"})
final class InfoCommand extends DeviceCommand {
    @Parameters(paramLabel = "URI", description = "The device.")
    private String uri = "";

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    @Mixin
    private final ConfigOption config = new ConfigOption();

    InfoCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        try (var devices = new OpenDevices(config.volumes())) {
            BlockDevice device;
            boolean inUse = false;
            try {
                device = devices.open(uri);
            } catch (BusyException e) {
                Optional<String> unlocked = ReadOnlyUri.unlocked(uri);
                if (unlocked.isEmpty()) {
                    throw e;
                }
                device = devices.open(unlocked.get());
                inUse = true;
            } catch (NotSupportedException e) {
                tellObjectStore(e);
                return 0;
            }
            if (json) {
                console().out().println(Json.text(tree(device, inUse)));
            } else {
                print(lines(device, inUse));
            }
        }
        return 0;
    }

    /** A LUN that is no disk may be an object store. */
    private void tellObjectStore(NotSupportedException noDisk) throws IOException, Failure {
        OsdInfo info;
        try (var connection = OsdConnection.open(uri)) {
            info = connection.osd().info();
        } catch (NotSupportedException _) {
            throw noDisk;
        } catch (AccessDeniedException e) {
            throw new Failure(DeviceUri.withoutSecret(uri) + " is an object store with security;"
                    + " 'lunar osd ls' with --key-file shows what is in it", e);
        }
        if (json) {
            var tree = new LinkedHashMap<String, Object>();
            tree.put("uri", DeviceUri.withoutSecret(uri));
            tree.putAll(ObjectStoreInfo.tree(info));
            console().out().println(Json.text(tree));
        } else {
            var lines = new LinkedHashMap<String, String>();
            lines.put("device", DeviceUri.withoutSecret(uri));
            lines.putAll(ObjectStoreInfo.lines(info));
            print(lines);
        }
    }

    private void print(Map<String, String> lines) {
        lines.forEach((name, value) -> console().out()
                .println(String.format(Locale.ROOT, "%-18s %s", name, value)));
    }

    private Map<String, String> lines(BlockDevice device, boolean inUse) {
        Geometry geometry = device.geometry();
        Identity identity = device.identity();
        Limits limits = device.limits();
        var lines = new LinkedHashMap<String, String>();
        lines.put("device", DeviceUri.withoutSecret(uri));
        lines.put("size", Size.format(geometry.sizeBytes()) + " (" + geometry.sizeBytes()
                + " bytes)");
        lines.put("block size", geometry.blockSize() + " bytes, physical "
                + geometry.physicalBlockSize());
        lines.put("blocks", Long.toString(geometry.blockCount()));
        lines.put("vendor", identity.vendor().strip());
        lines.put("product", identity.product().strip());
        lines.put("revision", identity.revision().strip());
        lines.put("serial", identity.serial().strip());
        lines.put("uuid", identity.uuid().toString());
        lines.put("access", inUse
                ? "in use by another process; looked at without its lock"
                : device.readOnly() ? "read-only" : "read-write");
        if (!inUse) {
            lines.put("supports", String.join(", ", capabilities(device)));
        }
        lines.put("longest transfer",
                Size.format((long) limits.maxTransferBlocks() * geometry.blockSize()));
        lines.put("best transfer",
                Size.format((long) limits.optimalTransferBlocks() * geometry.blockSize()));
        lines.put("queue depth", Integer.toString(limits.queueDepth()));
        return lines;
    }

    private Map<String, Object> tree(BlockDevice device, boolean inUse) {
        Geometry geometry = device.geometry();
        Identity identity = device.identity();
        Limits limits = device.limits();
        var tree = new LinkedHashMap<String, Object>();
        tree.put("uri", DeviceUri.withoutSecret(uri));
        tree.put("sizeBytes", geometry.sizeBytes());
        tree.put("blockSizeBytes", geometry.blockSize());
        tree.put("physicalBlockSizeBytes", geometry.physicalBlockSize());
        tree.put("blockCount", geometry.blockCount());
        tree.put("vendor", identity.vendor().strip());
        tree.put("product", identity.product().strip());
        tree.put("revision", identity.revision().strip());
        tree.put("serial", identity.serial().strip());
        tree.put("uuid", identity.uuid().toString());
        tree.put("inUse", inUse);
        if (!inUse) { // those of the process that uses it are not known
            tree.put("readOnly", device.readOnly());
            tree.put("supports", capabilities(device));
        }
        tree.put("maxTransferBlocks", limits.maxTransferBlocks());
        tree.put("optimalTransferBlocks", limits.optimalTransferBlocks());
        tree.put("maxUnmapBlocks", limits.maxUnmapBlocks());
        tree.put("maxWriteZeroesBlocks", limits.maxWriteZeroesBlocks());
        tree.put("maxCompareAndWriteBlocks", limits.maxCompareAndWriteBlocks());
        tree.put("queueDepth", limits.queueDepth());
        return tree;
    }

    private static List<String> capabilities(BlockDevice device) {
        return device.capabilities().stream()
                .map(each -> each.name().toLowerCase(Locale.ROOT).replace('_', '-')).sorted()
                .toList();
    }
}
