package lunar.cli.raid.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import lunar.admin.client.AdminClient;
import lunar.block.DeviceUri;
import lunar.raid.service.StoredUri;
import tools.jackson.databind.JsonNode;

/** A volume that a server runs, by the server's admin API. Holds no connection; closing it has no effect. */
public final class AdminVolume implements VolumeControl {
    private static final String VOLUMES = "/v1/volumes";
    private static final String URI = "uri";

    private final AdminClient client;
    private final String path;

    /** @param name of the volume, such as {@code raid5:vol} */
    public AdminVolume(AdminClient client, String name) {
        this.client = client;
        path = VOLUMES + "/" + AdminClient.segment(name);
    }

    /** Returns the state of all volumes that a server runs. */
    public static JsonNode all(AdminClient client) throws IOException {
        return client.get(VOLUMES).path("volumes");
    }

    @Override
    public JsonNode status() throws IOException { return client.get(path); }

    private JsonNode post(String change, Map<String, Object> body) throws IOException {
        return client.post(path + "/" + change, body);
    }

    private static Map<String, Object> device(String uri, boolean force) {
        var body = new LinkedHashMap<String, Object>();
        body.put(URI, uri);
        body.put("force", force);
        return body;
    }

    /** Returns the number of the slot with a device, by that number or its URI; -1 if it is in none. */
    private static int slot(JsonNode status, String name) {
        for (JsonNode slot : status.path("slots")) {
            String number = Integer.toString(slot.path("slot").asInt(-1));
            boolean isMeant = number.equals(name)
                    || slot.path(URI).asString("").equals(
                            DeviceUri.withoutSecret(StoredUri.of(name)));
            if (isMeant) {
                return slot.path("slot").asInt(-1);
            }
        }
        return -1;
    }

    @Override
    public void fail(String slot) throws IOException {
        JsonNode _ = post("fail", Map.of("slot", slot));
    }

    @Override
    public int replace(String slot, String uri, boolean force) throws IOException {
        Map<String, Object> body = device(uri, force);
        body.put("slot", slot);
        return slot(post("replace", body), uri);
    }

    @Override
    public int add(String name, boolean force) throws IOException {
        Map<String, Object> body = device(name, force);
        if (name.indexOf(':') < 0) {
            body.put("slot", body.remove(URI));
        }
        return slot(post("add", body), name);
    }

    @Override
    public void remove(String name) throws IOException {
        JsonNode _ = post("remove", Map.of(URI, name));
    }

    @Override
    public int grow(String uri, boolean force) throws IOException {
        return slot(post("grow", device(uri, force)), uri);
    }

    @Override
    public void scrub(boolean repair) throws IOException {
        JsonNode _ = post("scrub", Map.of("repair", repair));
    }

    @Override
    public void stop() throws IOException {
        throw new IOException("a server's volume cannot be stopped over its admin API: remove it"
                + " from the config file of the server and reload that");
    }

    @Override
    public boolean isElsewhere() { return true; }

    @Override
    public void close() {}
}
