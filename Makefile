# Recipes of Lunar. `make` lists them. No JDK 25 on the PATH is needed: Maven picks it as a toolchain.
MVN ?= mvn -B -ntp

.DEFAULT_GOAL := help
.PHONY: help test unit conformance vm format bench sessions figures fuzz simulate faults image package docs site publish clean

help: ## list the recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

test: ## everything but the VM: build, style, unit, contract, property, simulation, interop with real peers
	./scripts/peers
	rm -rf lunar-*/target/surefire-reports lunar-*/target/failsafe-reports
	$(MVN) -T 2 -fae verify -Pit; status=$$?; ./scripts/skipped && exit $$status

unit: ## the fast part of test: no foreign peers
	$(MVN) verify

conformance: ## libiscsi's conformance suite over several kinds of unit; says what differs from what is expected
	./scripts/peers
	$(MVN) -q verify -Pit -pl lunar-it -am -Dsurefire.failIfNoSpecifiedTests=false -Dtest=StyleTest \
		-Dit.test=ConformanceIT -Dfailsafe.failIfNoSpecifiedTests=false
	@awk '{ n[$$1]++ } END { for (v in n) printf "%s %d  ", v, n[v]; print "" }' lunar-it/target/iscsi-test-cu.verdicts

vm: ## the Linux kernel's initiator on our target, in a QEMU guest
	./lab/vm/check

format: ## format the sources
	$(MVN) -q -pl '!lunar-bom' spotless:apply

bench: ## Lunar beside tgtd, libiscsi and the model loop, interleaved; ARGS='steady', 'paths', 'compare COMMIT' ...
	./scripts/bench

sessions: ## what sessions cost the server, idle and at work
	./scripts/bench sessions

figures: ## Figures 3 and 4 of the jSCSI paper for Lunar, libiscsi and jSCSI, drawn to docs/figures
	./scripts/bench figures

fuzz: ## a million hostile PDU streams against a running target; SEED=n replays
	./scripts/fuzz

simulate: ## iRAID volumes on members that err, tear, crash and go away: N=n of them (100,000), SEED=n replays; ARGS=osd: object stores (20,000)
	./scripts/simulate

faults: ## scenarios of loss with real processes: paths that freeze, servers that are killed; TIMES=n, SEED=n, ARGS=names
	./scripts/faults

image: ## a runtime image with its own small JDK in build/image
	./scripts/image

package: ## the image as .tar.gz, .deb and OCI image in build/packages; ARGS=deb makes one of them
	./scripts/package $(ARGS)

docs: ## the Javadoc of the libraries in build/docs
	./scripts/docs

site: ## the documents as web pages in build/site, with the Javadoc if make docs has made it
	./scripts/site

publish: ## the libraries with sources and Javadoc, to build/repository, the folder REPO=... or the repository URL=https://...
	./scripts/publish "$(or $(REPO),$(URL))"

clean: ## remove what was built
	$(MVN) -q clean
	rm -rf build
