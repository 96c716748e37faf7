# What a person does with this project, one target each. `make help` lists them.
SHELL := /bin/bash
RELEASE := .build/release/mediabridge
# `make install BIN=PROGRAM` installs that one and builds nothing, so that root may install what somebody else has built.
BIN := $(RELEASE)
PREFIX ?= /usr/local

# Of debug builds. Whole modules take a fifth less of a processor when all is built, and more after each change: CI has them.
BUILD_FLAGS ?=

BUILD_PACKAGES := git pkg-config libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libsrtp2-dev libssl-dev \
  libnice-dev libusrsctp-dev python3
RUN_PACKAGES := gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad \
  gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-x gstreamer1.0-tools glib-networking
TEST_PACKAGES := ffmpeg iproute2 nftables procps coturn openssl python3-venv xvfb python3-xlib groff-base \
  gir1.2-gst-rtsp-server-1.0 python3-gi pulseaudio gstreamer1.0-pulseaudio \
  dbus pipewire wireplumber gstreamer1.0-pipewire xdg-desktop-portal \
  nginx libnginx-mod-rtmp libnginx-mod-stream chromium python3-pocketsphinx pocketsphinx-en-us espeak-ng \
  gstreamer1.0-opencv opencv-data
# Which the tests run by themselves: where they come with TEST_PACKAGES, the machine is not to have them from then on.
TEST_SERVICES := nginx coturn
# Targets whose code stays on one thread: the thread sanitizer passes their tests over.
TSAN_SKIP := ^(MediaCore|Bitstream|RTP|SDP|LiveKitProtocol|PipelineTemplates|Fuzz)Tests
TSAN_SUPPRESSIONS := $(addprefix suppressions=$(CURDIR)/,$(wildcard Tests/tsan.supp))
# What `make fuzz` runs, and for how long each.
FUZZ_TARGETS ?= bitstream rtp rtcp sdp answers signal data templates
FUZZ_SECONDS ?= 60
FUZZ_BUILD := .build-fuzz
DOCS := .build/docs
# The end-to-end tests make network namespaces, which takes root.
AS_ROOT = $$([ "$$(id -u)" = 0 ] || ! command -v sudo > /dev/null || echo sudo)

.DEFAULT_GOAL := help
.PHONY: help setup setup-test build build-tests build-tsan release demo test test-long unit endurance tsan fuzz e2e \
  e2e-ready e2e-long e2e-whole-room e2e-minutes long-builds outside-package bench install uninstall lint docs format \
  proto templates clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what building and running need (Debian packages; root or sudo)
	@$(call install-missing,$(BUILD_PACKAGES) $(RUN_PACKAGES))
	@command -v swift > /dev/null || { echo "Swift 6.2 or newer is missing: get it from https://www.swift.org/install/linux"; exit 1; }
	@swift --version 2>/dev/null | awk 'match($$0, /Swift version [0-9.]+/) { split(substr($$0, RSTART + 14, RLENGTH - 14), v, "."); \
	  if (v[1] < 6 || (v[1] == 6 && v[2] < 2)) { print "Swift 6.2 or newer is needed, this is " v[1] "." v[2] ": get it from https://www.swift.org/install/linux"; exit 1 } }'

setup-test: setup
	@new=""; for service in $(TEST_SERVICES); do systemctl cat $$service > /dev/null 2>&1 || new="$$new $$service"; done; \
	{ $(call install-missing,$(TEST_PACKAGES)); } && \
	if [ -d /run/systemd/system ]; then for service in $$new; do \
	  ! systemctl cat $$service > /dev/null 2>&1 || $(AS_ROOT) systemctl disable --now $$service || exit 1; done; fi

# Installs the packages of $(1) that are not there, and says so. Where others would have to go for them it fails.
define install-missing
missing=""; for package in $(1); do \
  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; done; \
if [ -n "$$missing" ]; then \
  echo "Installing:$$missing"; \
  if [ "$$(id -u)" = 0 ]; then run=""; elif command -v sudo > /dev/null; then run="sudo"; \
  else echo "Neither root nor sudo here. Run as root: apt-get install$$missing"; exit 1; fi; \
  $$run apt-get update -q && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -q --no-install-recommends --no-remove $$missing; \
fi
endef

build: setup ## Build for development
	swift build

# What would trap where two touch one value at once is found by the tests and the thread sanitizer; looking for it costs
# a fifteenth of what a packet does.
release: setup ## Build the optimized program; it needs no Swift where it runs
	swift build -c release --product mediabridge --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked

demo: release ## Record a synthetic participant of a room of our own into demo.mp4
	$(BIN) demo

# Unit tests take the debug build, end-to-end tests the program that people run.
test: ## Run the tests (some 20 minutes on 2 processors)
	$(MAKE) unit # one after the other even under -j: each wants the whole machine
	$(MAKE) e2e

# What waits for ten minutes runs beside what builds, which gives way to it.
test-long: ## Run what takes longer: thread sanitizer, endurance, ten minutes of a room, a package outside (with `test` below 45 minutes)
	$(MAKE) e2e-ready
	$(MAKE) -j2 --output-sync=target e2e-minutes long-builds
	$(MAKE) tsan
	$(MAKE) -j2 --output-sync=target endurance e2e-long
	$(MAKE) e2e-whole-room

long-builds:
	nice -n 19 $(MAKE) build-tsan
	nice -n 19 $(MAKE) outside-package

# Most tests wait for media that runs in real time, so several processes share the processors, each with its tests one
# after the other. A test is of the first shard whose pattern has its suite, or else of the last one.
SHARDS := 1 2 3 4 5
SHARD_1 := ReconnectionTests|ReceiveRenewalTests|RefreshedTokenTests|ReasonsAcrossSessionsTests|StatisticsTests
SHARD_1 := $(SHARD_1)|LocalTrackTests|SessionPropertyTests|RepeatF|GarbageTests|ReadmeTests|ColorConverterTests
SHARD_2 := LayerTests|VideoViewTests|AdaptiveStreamTests|VideoFrameImageTests|FailingSubscriptionTests
SHARD_2 := $(SHARD_2)|BlackKeyframeTests|SlowDecoderTests|FrameMemoryTests
SHARD_3 := SeedsTests|Playback|RoomTests|MediaTests|DelegateTests|RoomMovedTests|ReceiveTests|OrientationTests
SHARD_4 := ^EgressTests
SHARD_PATTERN = $(if $(SHARD_$*),--filter "$(SHARD_$*)",--skip "$(SHARD_1)|$(SHARD_2)|$(SHARD_3)|$(SHARD_4)")
# Counts what its process holds, and wants one of its own.
ENDURANCE := EnduranceTests
# What GLib and each thread keep of memory that was given back, some megabytes, would count as in use.
COUNTED_HEAP := G_SLICE=always-malloc GLIBC_TUNABLES=glibc.malloc.tcache_count=0
# Long loops on one thread, and what GStreamer does by itself, have nothing to show the sanitizer.
ONE_THREAD := RepeatGarbageTests|SessionPropertyTests|BlackKeyframeTests|RepeatFrameTests|RepeatFileTests|SampleLineTests
ONE_THREAD := $(ONE_THREAD)|AudioConverterTests|SegmentOptionsTests
# Under it Swift's runtime takes a lock for each generic type that it is asked for, in which nine publishers on a slow machine
# stand in line for minutes.
CROWD := nineAreAskedForAsNinths
TEST_BUNDLE := debug/mediabridgePackageTests.xctest --testing-library swift-testing --no-parallel
# What fails beside the others is run once more by itself, and has failed only then.
UNIT_TESTS = .build/$(TEST_BUNDLE)
TSAN_TESTS = env TEST_PATIENCE=3 \
  TSAN_OPTIONS="ignore_noninstrumented_modules=1 $$TSAN_OPTIONS $(TSAN_SUPPRESSIONS)" .build-tsan/$(TEST_BUNDLE)
define run-shards
@rm -rf .build/again && mkdir -p .build/again
$(MAKE) --no-print-directory -j$(words $(SHARDS)) --output-sync=target $(SHARDS:%=$(1)-shard-%) || \
  { cat .build/again/*.why; exit 1; }
@for shard in $(SHARDS:%=.build/again/$(1)-shard-%); do [ ! -e $$shard ] || \
  { echo "Once more, by themselves: $$(cat $$shard)"; $(2) --filter "$$(cat $$shard)"; } || exit 1; done
endef

unit: build-tests ## Run the unit tests
	$(call run-shards,unit,$(UNIT_TESTS))

unit-shard-%:
	Tests/shard.sh .build/again $@ $(UNIT_TESTS) $(SHARD_PATTERN) --skip "$(ENDURANCE)"

# Gives way to tests beside it that measure time.
endurance: build-tests ## Repeat what a program does all day a thousand times, and look for what is left over
	$(COUNTED_HEAP) nice -n 19 .build/$(TEST_BUNDLE) --filter "$(ENDURANCE)"

build-tests: setup-test
	swift build --build-tests $(BUILD_FLAGS)

# The C libraries are not instrumented: what only they do is not ours to judge, and their locks are unseen.
tsan: build-tsan ## Run the tests of what crosses threads under the thread sanitizer
	$(call run-shards,tsan,$(TSAN_TESTS))

build-tsan: setup-test
	swift build --build-tests --scratch-path .build-tsan --sanitize=thread $(BUILD_FLAGS)

tsan-shard-%:
	Tests/shard.sh .build/again $@ $(TSAN_TESTS) $(SHARD_PATTERN) --skip "$(ENDURANCE)|$(ONE_THREAD)|$(CROWD)|$(TSAN_SKIP)"

# What it finds lies in .build-fuzz: a crash goes to Tests/Corpus/TARGET, as it is or in hexadecimal, once it is mended.
# Swift's runtime keeps what it allocates for types, hence no search for leaks.
fuzz: setup ## Feed the parsers with random input (FUZZ_SECONDS=60 for each of FUZZ_TARGETS)
	MEDIABRIDGE_FUZZ=1 swift build --scratch-path $(FUZZ_BUILD) -c release --product fuzz --sanitize=address \
	  --sanitize=fuzzer -Xswiftc -use-ld=lld
	for target in $(FUZZ_TARGETS); do \
	  echo "--- $$target"; mkdir -p $(FUZZ_BUILD)/findings/$$target; \
	  FUZZ_TARGET=$$target FUZZ_SEEDS=Tests/Corpus ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no \
	    $(FUZZ_BUILD)/release/fuzz $(FUZZ_BUILD)/corpus/$$target \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -print_final_stats=1 \
	    -artifact_prefix=$(FUZZ_BUILD)/findings/$$target/ || exit 1; \
	done

# Tests that measure real time are marked `realtime` and run three at a time, the others more of them. What fails is run by
# itself, as above, and what still fails a last time: others use this machine, too, and at times it is three times slower.
E2E_WORKERS ?= 8
E2E_CACHE := $(shell mktemp -u)
# They run what people run: the optimized program; of the debug build they take the examples.
E2E_BIN ?= $(RELEASE)
PYTEST_HERE = env MEDIABRIDGE_BIN=$(CURDIR)/$(E2E_BIN) PYTHONDONTWRITEBYTECODE=1 \
  .venv/bin/python -m pytest -q Tests/EndToEnd
PYTEST = $(AS_ROOT) $(PYTEST_HERE) -o cache_dir=$(E2E_CACHE)
AGAIN = $(PYTEST) --last-failed --last-failed-no-failures none
# pytest ends with 5 when a selection has no test.
define run-e2e
$(PYTEST) $(1) $(E2E) || case $$? in \
  1) echo "Once more, one after the other:"; $(AGAIN) || { [ $$? = 1 ] && echo "And a last time:" && $(AGAIN); };; \
  5) [ -n '$(E2E)' ];; *) false;; esac
endef

e2e-ready: build-tests $(if $(filter $(RELEASE),$(E2E_BIN)),release) .venv/ready

e2e: e2e-ready ## Run the program against clients that others wrote (E2E="-k record" narrows)
	$(call run-e2e,-m "not realtime and not long" -n $(E2E_WORKERS) --dist worksteal)
	$(call run-e2e,-m "realtime and not long" -n 3 --dist worksteal)
	@$(AS_ROOT) rm -rf $(E2E_CACHE)

e2e-minutes: e2e-ready
	$(call run-e2e,-m "minutes")
	@$(AS_ROOT) rm -rf $(E2E_CACHE)

e2e-long: e2e-ready
	$(call run-e2e,-m "long and not realtime and not outside and not minutes" -n 2 --dist worksteal)
	@$(AS_ROOT) rm -rf $(E2E_CACHE)

e2e-whole-room: e2e-ready
	$(call run-e2e,-m "long and realtime")
	@$(AS_ROOT) rm -rf $(E2E_CACHE)

outside-package: build-tests .venv/ready ## Build a package outside this repository that depends on it, and run it
	$(PYTEST_HERE) -p no:cacheprovider -m outside

bench: setup-test release .venv/ready ## Measure cost and latency beside the LiveKit Python SDK (BENCH="--only tracks" takes one part)
	$(AS_ROOT) env MEDIABRIDGE_BIN=$(CURDIR)/$(BIN) PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=Tests/EndToEnd \
	  .venv/bin/python Tests/Bench/bench.py $(BENCH)

.venv/ready: Tests/EndToEnd/requirements.txt Tests/EndToEnd/clip-requirements.txt
	python3 -m venv .venv
	.venv/bin/pip install -q -r Tests/EndToEnd/requirements.txt
	.venv/bin/pip install -q --no-deps -r Tests/EndToEnd/clip-requirements.txt
	touch $@

PIPELINES := $(wildcard pipelines/*/*.pipeline)
SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETIONS = bash:bash-completion/completions/mediabridge zsh:zsh/site-functions/_mediabridge \
  fish:fish/vendor_completions.d/mediabridge.fish
MANUAL := man/man1/mediabridge.1

install: $(if $(filter file,$(origin BIN)),release) ## Install program, pipelines, manual and completions below PREFIX (/usr/local)
	install -D -s $(BIN) $(DESTDIR)$(PREFIX)/bin/mediabridge
	for file in $(PIPELINES); do install -D -m 644 $$file $(SHARE)/mediabridge/$$file || exit 1; done
	set -o pipefail; $(BIN) manual | install -D -m 644 /dev/stdin $(SHARE)/$(MANUAL)
	set -o pipefail; for pair in $(COMPLETIONS); do \
	  $(BIN) --generate-completion-script $${pair%%:*} | install -D -m 644 /dev/stdin $(SHARE)/$${pair#*:} || exit 1; done

uninstall: ## Remove what was installed below PREFIX
	rm -f $(DESTDIR)$(PREFIX)/bin/mediabridge $(SHARE)/$(MANUAL)
	for pair in $(COMPLETIONS); do rm -f $(SHARE)/$${pair#*:}; done
	for file in $(PIPELINES); do rm -f $(SHARE)/mediabridge/$$file; done
	find $(SHARE)/mediabridge -depth -type d -empty -delete 2> /dev/null || true

SWIFT_SOURCES = $(shell git ls-files 'Sources/*.swift' 'Tests/*.swift' 'Examples/*.swift' Package.swift | grep -v Generated/)

lint: setup ## Check formatting, undeclared imports, warnings and the links of the pages
	swift format lint --strict $(SWIFT_SOURCES)
	swift build --build-tests --explicit-target-dependency-import-check error $(BUILD_FLAGS)
	$(MAKE) docs

# docc comes with Swift. It warns of links to what does not exist, and also of parameters without a word on them, of
# which most need none.
docs: setup ## Make the libraries' pages in .build/docs; fails for a broken link and for a public symbol without words
	rm -rf $(DOCS) && mkdir -p $(DOCS)
	swift package $(BUILD_FLAGS) dump-symbol-graph --minimum-access-level public > $(DOCS)/log 2>&1 || { cat $(DOCS)/log; exit 1; }
	swift package describe --type json | python3 Tests/Docs/undocumented.py $(SYMBOL_GRAPHS)
	$(foreach library,$(notdir $(basename $(wildcard Sources/*/*.docc))),$(call make-pages,$(library)))

SYMBOL_GRAPHS := .build/debug/../symbolgraph
define make-pages
mkdir $(DOCS)/$(1) && cp $(SYMBOL_GRAPHS)/$(1).symbols.json $(DOCS)/$(1)
	docc convert Sources/$(1)/$(1).docc --additional-symbol-graph-dir $(DOCS)/$(1) \
	  --output-path $(DOCS)/$(1).doccarchive > $(DOCS)/log 2>&1 || { cat $(DOCS)/log; exit 1; }
	awk -v RS= '/^(warning|error)/ && !/^[^\n]* is missing documentation/ { print $$0 "\n"; bad = 1 } END { exit bad }' $(DOCS)/log

endef

format: ## Format the Swift code
	swift format format --in-place $(SWIFT_SOURCES)

proto: ## Generate the protobuf code anew (needs protoc and protoc-gen-swift)
	@command -v protoc > /dev/null && command -v protoc-gen-swift > /dev/null || { \
	  echo "protoc (apt-get install protobuf-compiler) and protoc-gen-swift (built from swift-protobuf) are needed"; exit 1; }
	protoc --swift_out=Sources/LiveKitProtocol/Generated --swift_opt=Visibility=Public \
	  --swift_opt=UseAccessLevelOnImports=true -I Sources/LiveKitProtocol/Protos livekit.proto

BUILT_IN := Sources/PipelineTemplates/Generated/BuiltInTemplates.swift

# A unit test says when this is to be run.
templates: ## Put the templates of pipelines/ into the library anew
	@mkdir -p $(dir $(BUILT_IN))
	LC_ALL=C awk 'BEGIN { print "// Made of pipelines/ by `make templates`: change the templates there."; \
	    print "enum BuiltInTemplates {\n  /// By KIND/NAME.\n  static let texts: [String: String] = [" } \
	  FNR == 1 { if (NR > 1) print "\n\"\"\"###,"; name = FILENAME; gsub(/^pipelines\/|\.pipeline$$/, "", name); \
	    print "    \"" name "\": ###\"\"\"" } \
	  { print } \
	  END { print "\n\"\"\"###,\n  ]\n}" }' $(sort $(wildcard pipelines/*/*.pipeline)) > $(BUILT_IN)

clean: ## Remove what was built
	rm -rf .build .build-tsan .build-fuzz .venv
