package lunar.osd.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.CommandOptions;
import lunar.osd.wire.command.Isolation;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.security.Capability;

/**
 * Attributes that a command sets and gets along, and its options. Immutable.
 *
 * {@snippet :
 * UserObject object = partition.create(RequestOptions.NONE
 *         .set(new Attribute(KIND, Bytes.of((byte) 7)))
 *         .get(UserObjectAttribute.CREATED)).value();
 * }
 *
 * <p>The device sets attributes after the function of the command and before it gets any; REMOVE sets and gets before
 * it removes, GET ATTRIBUTES gets before it sets. If it refuses an attribute, the sense data say which functions were
 * completed.
 *
 * @param sets attributes to set; those without a value are deleted
 * @param gets attributes to get, in the order of the reply; {@link AttributeId#ALL_NUMBERS} stands for all of a page
 * @param wire options byte and timestamps control of the CDB
 * @param capability capability of this command, in place of that of {@link OsdOptions}
 */
public record RequestOptions(List<Attribute> sets, List<AttributeId> gets, CommandOptions wire,
        Optional<Capability> capability) {
    /** No attributes, default options. */
    public static final RequestOptions NONE = new RequestOptions(List.of(), List.of(),
            CommandOptions.DEFAULT, Optional.empty());

    /** Makes the lists unmodifiable. */
    public RequestOptions {
        sets = List.copyOf(sets);
        gets = List.copyOf(gets);
    }

    /** Returns these options with further attributes to set. */
    public RequestOptions set(Attribute... attributes) {
        var all = new ArrayList<>(sets);
        all.addAll(List.of(attributes));
        return new RequestOptions(all, gets, wire, capability);
    }

    /** Returns these options with further attributes to get. */
    public RequestOptions get(AttributeId... ids) {
        var all = new ArrayList<>(gets);
        all.addAll(List.of(ids));
        return new RequestOptions(sets, all, wire, capability);
    }

    /** Returns these options with further attributes to get. */
    public RequestOptions get(StandardAttribute... attributes) {
        return get(Arrays.stream(attributes).map(StandardAttribute::id)
                .toArray(AttributeId[]::new));
    }

    /** Returns these options with force unit access: the command ends when its effects are on stable storage. */
    public RequestOptions withFua() {
        return with(new CommandOptions(wire.isolation(), true, wire.dpo(),
                wire.bypassTimestamps()));
    }

    /** Returns these options with disable page out: the data are not worth caching. */
    public RequestOptions withDpo() {
        return with(new CommandOptions(wire.isolation(), wire.fua(), true,
                wire.bypassTimestamps()));
    }

    /** Returns these options with timestamps that stay as they are. */
    public RequestOptions withoutTimestamps() {
        return with(new CommandOptions(wire.isolation(), wire.fua(), wire.dpo(), true));
    }

    /** Returns these options with an isolation, which FLUSH commands do not have. */
    public RequestOptions withIsolation(Isolation value) {
        return with(new CommandOptions(value, wire.fua(), wire.dpo(), wire.bypassTimestamps()));
    }

    /** Returns these options with a capability. */
    public RequestOptions withCapability(Capability value) {
        return new RequestOptions(sets, gets, wire, Optional.of(value));
    }

    /** Returns these options without attributes. */
    RequestOptions withoutAttributes() {
        return sets.isEmpty() && gets.isEmpty()
                ? this
                : new RequestOptions(List.of(), List.of(), wire, capability);
    }

    /** Returns these options without attributes to get. */
    RequestOptions withoutGets() {
        return new RequestOptions(sets, List.of(), wire, capability);
    }

    /** Returns these options with an attribute that is got before all others. */
    RequestOptions gettingFirst(StandardAttribute attribute) {
        var all = new ArrayList<AttributeId>();
        all.add(attribute.id());
        all.addAll(gets);
        return new RequestOptions(sets, all, wire, capability);
    }

    private RequestOptions with(CommandOptions other) {
        return new RequestOptions(sets, gets, other, capability);
    }
}
